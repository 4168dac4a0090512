import Primitives
import Sealing
import ServiceKit

extension DataKeys {
    /// Seals what a person wrote; nil when the person was erased meanwhile.
    func seal(_ text: String, field: String, of user: UserID) async throws -> String? {
        guard let key = try await self.key(for: user) else { return nil }
        return try SealedField.seal(text, key: key, context: SealContext(user: user.uuid, field: field, schema: 1)).text
    }

    /// What a person wrote, or the mark of an erased person; nil when it cannot be read.
    func open(_ text: String, field: String, of user: UserID) async throws -> String? {
        guard let key = try await self.key(for: user) else { return SealedField.erasedText }
        let context = SealContext(user: user.uuid, field: field, schema: 1)
        return try? SealedField(text: text).open(key: key, context: context)
    }
}
