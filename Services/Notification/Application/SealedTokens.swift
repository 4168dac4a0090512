import Primitives
import Sealing
import ServiceKit

extension DataKeys {
    /// Seals a text; nil when the person was erased.
    func seal(_ text: String, field: String, of user: UserID) async throws -> String? {
        guard let key = try await self.key(for: user) else { return nil }
        return try SealedField.seal(text, key: key, context: SealContext(user: user.uuid, field: field)).text
    }

    /// Opens a text; nil when the person was erased.
    func open(_ text: String, field: String, of user: UserID) async throws -> String? {
        guard let key = try await self.key(for: user) else { return nil }
        return try SealedField(text: text).open(key: key, context: SealContext(user: user.uuid, field: field))
    }
}
