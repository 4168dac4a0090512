import Foundation
import Messaging
import Postgres
import Primitives

extension BeneficiaryStore {
    /// Those that people have to look at, the newest first.
    func reviews(before id: UUID, limit: Int, on database: EventDatabase) async throws -> [Beneficiary] {
        let sql: SQL = """
            \(Self.columns) WHERE status = 'review' AND deleted_at IS NULL AND id < \(id)
            ORDER BY id DESC LIMIT \(Int64(limit))
            """
        return try await database.client.query(sql).map(Self.beneficiary)
    }

    /// Makes one pending, so that the bank is asked for its holder once more.
    func askAgain(_ beneficiary: Beneficiary, in transaction: EventTransaction) async throws {
        var pending = beneficiary
        pending.status = .pending
        try await self.saveAnswer(pending, in: transaction)
        try await transaction.requeue(
            CustomerJob.verifyBeneficiary,
            key: beneficiary.id.lowercased,
            subject: beneficiary.user.description
        )
    }

    /// Whose it is; nil when there is none, or no longer.
    func owner(of id: UUID, in transaction: EventTransaction) async throws -> UserID? {
        try await transaction.query(
            "SELECT user_id FROM beneficiaries WHERE id = \(id) AND deleted_at IS NULL"
        ).first.map { UserID(try $0.decode(UUID.self)) }
    }
}
