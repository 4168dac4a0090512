import Contracts
import Foundation
import Messaging
import Primitives
import Sealing

/// The users' data keys: made here, stored under a master key, opened for a moment.
struct KeyVault: Sendable {
    let keys: DataKeyStore
    let ring: MasterKeyRing

    /// Stores the key of a new user.
    func store(_ key: DataKey, for user: UserID, in transaction: EventTransaction) async throws {
        try await self.keys.insert(try self.ring.wrap(key, for: user.uuid), for: user, in: transaction)
    }

    /// The key of a user.
    ///
    /// - Throws: `AuthError.keyNotFound`, `AuthError.erased`.
    func open(_ user: UserID, in transaction: EventTransaction) async throws -> DataKey {
        try self.unwrap(try await self.keys.find(user, in: transaction), of: user)
    }

    /// The key of a user, outside a transaction.
    ///
    /// `reader` is the user whose request asks; nil on the worker's connections, which see every row.
    func open(_ user: UserID, as reader: UserID?, on database: EventDatabase) async throws -> DataKey {
        try self.unwrap(try await self.keys.find(user, as: reader, on: database), of: user)
    }

    private func unwrap(_ entry: DataKeyStore.Entry?, of user: UserID) throws -> DataKey {
        switch entry {
        case nil: throw AuthError.keyNotFound
        case .destroyed: throw AuthError.erased
        case .wrapped(let key): return try self.ring.unwrap(key, for: user.uuid)
        }
    }
}

/// The fields that the seals of details name; other services open them by the same names.
enum DetailField {
    static let kyc = "kyc_details"
    static let kyb = "kyb_details"
    static let contact = "contact_details"
}

extension DataKey {
    /// Seals the details of a user.
    func seal(_ details: UserDetails, of user: UserID) throws -> SealedDetails {
        var sealed = SealedDetails()
        switch details.identity {
        case .person(let person): sealed.kyc = try self.seal(person, field: DetailField.kyc, of: user)
        case .business(let business): sealed.kyb = try self.seal(business, field: DetailField.kyb, of: user)
        }
        if let contact = details.contact {
            sealed.contact = try self.seal(contact, field: DetailField.contact, of: user)
        }
        return sealed
    }

    /// Opens a detail that `seal` made.
    func open<Value: Decodable>(_ sealed: Sealed, as type: Value.Type, field: String, of user: UserID) throws -> Value {
        let context = SealContext(user: user.uuid, field: field)
        let json = try SealedField(text: sealed.text).open(key: self, context: context)
        return try JSONDecoder().decode(type, from: Data(json.utf8))
    }

    private func seal(_ value: some Encodable, field: String, of user: UserID) throws -> Sealed {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let json = String(decoding: try encoder.encode(value), as: UTF8.self)
        let context = SealContext(user: user.uuid, field: field)
        return Sealed(try SealedField.seal(json, key: self, context: context).text)
    }
}
