import Foundation
import Messaging
import Postgres

/// The end of profiles, decided by database functions.
struct ClosureStore: Sendable {
    /// Ends the drops and requests of a person whose profile is closed.
    ///
    /// - Returns: How many are still on their way.
    func close(_ user: UUID, in transaction: EventTransaction) async throws -> Int {
        let rows = try await transaction.query("SELECT close_products(\(user))")
        return Int(try rows.first?.decode(Int32.self) ?? 0)
    }

    /// Whether nothing is left that a closed person, or somebody they owe, would miss.
    func mayBeErased(_ user: UUID, in transaction: EventTransaction) async throws -> Bool {
        let rows = try await transaction.query("SELECT may_be_erased(\(user))")
        return try rows.first?.decode(Bool.self) ?? false
    }
}
