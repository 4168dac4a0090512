import Contracts
import Foundation
import Primitives
import Sealing

extension DataKey {
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
