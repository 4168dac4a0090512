import Contracts
import Foundation
import Messaging
import Primitives
import ServiceTestSupport
import TestSupport

/// A service that hears what the ledger says.
protocol Follower: ServiceWorld {}

extension Follower {
    /// Hears an event of the ledger, if this service does.
    func follows(_ type: EventType, _ data: String, about subject: String, _ sequence: Int64, id: UUID) async throws {
        guard self.handlers.entries[type] != nil else { return }
        guard let about = UUID(uuidString: subject) else { throw TestFailure("no id: \(subject)") }
        try await self.hear(type, data, about: about, sequence: sequence, id: id)
    }
}
