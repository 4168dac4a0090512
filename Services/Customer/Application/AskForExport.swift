import Messaging
import Primitives

/// A person asks for all that is held about them: once a day, and while one is collected for that one.
///
/// Whoever is closed, frozen or rejected asks too: the data stays theirs.
struct AskForExport: Sendable {
    let users: CustomerUserStore
    let exports: ExportStore

    /// The export that is asked for, or under way.
    ///
    /// - Throws: `CustomerError.notOnboarded`, `exportedToday`.
    func callAsFunction(_ user: UserID, in transaction: EventTransaction) async throws -> PersonalExport {
        guard let known = try await self.users.lock(user, in: transaction), !known.isErased else {
            throw CustomerError.notOnboarded
        }
        if let last = try await self.exports.newest(of: user, in: transaction) {
            if last.isRunning { return last }
            if let wait = last.wait(at: transaction.now) { throw CustomerError.exportedToday(wait: wait) }
        }
        let export = try await self.exports.insert(transaction.makeID(), of: user, in: transaction)
        try await transaction.enqueue(
            CustomerJob.collectExport,
            key: export.id.lowercased,
            subject: user.description
        )
        return export
    }
}
