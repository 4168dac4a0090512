import Contracts
import Foundation
import Primitives
import Sealing
import ServiceKit

/// Opens what auth sealed.
struct OpenDetails: Sendable {
    let keys: any DataKeys

    /// The details of a user, as far as they are known.
    ///
    /// - Throws: `CustomerError.erased`; `DataKeyError` when auth cannot be asked.
    func callAsFunction(_ user: CustomerUser) async throws -> CustomerDetails {
        guard !user.isErased, let key = try await self.keys.key(for: user.id) else { throw CustomerError.erased }
        return CustomerDetails(
            person: try key.open(user.details.kyc, field: "kyc_details", of: user.id),
            business: try key.open(user.details.kyb, field: "kyb_details", of: user.id),
            contact: try key.open(user.details.contact, field: "contact_details", of: user.id)
        )
    }
}

extension DataKey {
    fileprivate func open<Value: Decodable>(_ sealed: Sealed?, field: String, of user: UserID) throws -> Value? {
        guard let sealed else { return nil }
        let json = try self.text(in: sealed, field: field, of: user)
        return try JSONDecoder().decode(Value.self, from: Data(json.utf8))
    }

    /// Opens a text.
    func text(in sealed: Sealed, field: String, of user: UserID) throws -> String {
        try SealedField(text: sealed.text).open(key: self, context: SealContext(user: user.uuid, field: field))
    }

    /// Seals a text.
    func seal(_ text: String, field: String, of user: UserID) throws -> Sealed {
        let context = SealContext(user: user.uuid, field: field)
        return Sealed(try SealedField.seal(text, key: self, context: context).text)
    }
}
