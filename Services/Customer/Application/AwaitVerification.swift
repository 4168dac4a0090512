import Foundation
import Messaging
import Primitives

/// Waits a moment for the bank's answer about a beneficiary.
struct AwaitVerification: Sendable {
    let database: EventDatabase
    let beneficiaries: BeneficiaryStore
    /// No longer than this.
    var limit = Duration.seconds(3)

    /// The beneficiary when the bank has answered, or as it is when the time is up; nil when it is gone.
    func callAsFunction(_ id: UUID, of user: UserID) async throws -> Beneficiary? {
        try await AwaitAnswer(limit: self.limit)(
            { try await self.beneficiaries.find(id, of: user, on: self.database) },
            while: { $0?.status == .pending }
        )
    }
}
