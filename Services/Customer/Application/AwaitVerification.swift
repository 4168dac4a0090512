import Foundation
import Messaging
import Primitives

/// Waits a moment for the bank's answer, which a job fetches, perhaps in another process.
struct AwaitVerification: Sendable {
    let database: EventDatabase
    let beneficiaries: BeneficiaryStore
    /// No longer than this.
    var limit = Duration.seconds(3)

    private static let pauses: [Duration] = [.milliseconds(20), .milliseconds(50), .milliseconds(100)]
    private static let lastPause = Duration.milliseconds(200)

    /// The beneficiary when the bank has answered, or as it is when the time is up; nil when it is gone.
    func callAsFunction(_ id: UUID, of user: UserID) async throws -> Beneficiary? {
        let deadline = ContinuousClock.now + self.limit
        var pauses = Self.pauses[...]
        while true {
            let found = try await self.beneficiaries.find(id, of: user, on: self.database)
            guard found?.status == .pending, ContinuousClock.now < deadline else { return found }
            try await Task.sleep(for: pauses.popFirst() ?? Self.lastPause)
        }
    }
}
