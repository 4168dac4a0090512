import Foundation
import Primitives
import Sealing
import ServiceKit

/// Makes the order for a new money drop out of what a person asked for.
struct CreateMoneyDrop: Sendable {
    let hasher: PINHasher
    let poolAccount: String
    let linkBase: String

    /// - Throws: `BusyHashing`.
    func callAsFunction(_ draft: MoneyDropDraft) async throws -> Order {
        // Not a UUIDv7: its time and counter would help strangers to guess.
        let id = UUID()
        return .moneyDrop(
            NewMoneyDrop(
                id: id,
                draft: draft,
                passwordHash: try await self.hash(draft.password),
                poolAccount: self.poolAccount,
                link: PublicLink.drop(id, base: self.linkBase)
            )
        )
    }

    private func hash(_ password: String?) async throws -> String? {
        guard let password else { return nil }
        do {
            return try await self.hasher.hash(password)
        } catch {
            throw BusyHashing()
        }
    }
}

/// Too many passwords wait to be hashed.
struct BusyHashing: Error {}

/// What people share.
enum PublicLink {
    static func drop(_ id: UUID, base: String) -> String { "\(base)/d/\(id.lowercased)" }
    static func request(_ id: UUID, base: String) -> String { "\(base)/r/\(id.lowercased)" }
}
