import Contracts
import Foundation
import Messaging
import Postgres
import Primitives

/// What people may send and hold.
struct LimitStore: Sendable {
    let client: PostgresClient

    /// Nil when the ledger does not know the person.
    func limits(of user: UserID) async throws -> LimitsResource? {
        let rows = try await self.client.query(
            """
            SELECT u.tier, coalesce(l.per_transfer, 0), coalesce(l.per_day, 0), coalesce(l.per_month, 0),
                CASE WHEN l.tier IS NULL THEN 0 ELSE l.maximum_balance END, o.per_transfer, o.per_day, o.per_month,
                s.day_used, s.month_used
            FROM users u CROSS JOIN (SELECT transfa_now() AS at) n
            CROSS JOIN LATERAL sending_caps(u.id, u.tier, n.at) s
            LEFT JOIN LATERAL limits_of(u.tier, n.at) l ON true
            LEFT JOIN user_limits o ON o.user_id = u.id
            WHERE u.id = \(user.uuid)
            """,
            as: user.uuid
        )
        let caps = try await self.caps(of: user)
        return try rows.first.map { row in
            let (tier, transfer, day, month, ceiling, ownTransfer, ownDay, ownMonth, today, thisMonth) =
                try row.decode(
                    Int16.self,
                    Int64.self,
                    Int64.self,
                    Int64.self,
                    Int64?.self,
                    Int64?.self,
                    Int64?.self,
                    Int64?.self,
                    Int64.self,
                    Int64.self
                )
            return LimitsResource(
                tier: Int(tier),
                perTransfer: transfer,
                perDay: day,
                perMonth: month,
                maximumBalance: ceiling,
                own: OwnLimits(perTransfer: ownTransfer, perDay: ownDay, perMonth: ownMonth),
                sentToday: today,
                sentThisMonth: thisMonth,
                caps: caps
            )
        }
    }

    private func caps(of user: UserID) async throws -> [LimitCap] {
        try await self.client.query(
            """
            SELECT code, unit, most, used, remaining, until, device_id, beneficiary_id, payer_username, drop_id
            FROM caps_of(\(user.uuid))
            """
        ).map { row in
            let (code, unit, limit, used, left, until, device, beneficiary, payer, drop) = try row.decode(
                String.self,
                String.self,
                Int64.self,
                Int64.self,
                Int64.self,
                Date?.self,
                UUID?.self,
                UUID?.self,
                String?.self,
                UUID?.self
            )
            return LimitCap(
                code: code,
                unit: unit,
                limit: limit,
                used: used,
                left: left,
                until: until.map { Timestamp.text($0) },
                deviceID: device,
                beneficiaryID: beneficiary,
                payerUsername: payer,
                moneyDropID: drop
            )
        }
    }

    /// Replaces a person's own limits and spends the approval's nonce.
    ///
    /// - Throws: `LimitProblem`.
    func set(_ limits: OwnLimits, of user: UserID, nonce: UUID, in transaction: EventTransaction) async throws {
        let rows = try await transaction.query(
            """
            SELECT set_own_limits(\(user.uuid), \(limits.perTransfer), \(limits.perDay), \(limits.perMonth), \(nonce))
            """
        )
        guard let outcome = try rows.first?.decode(String.self) else { throw LedgerContradiction() }
        if let problem = LimitProblem(rawValue: outcome) { throw problem }
    }
}

/// Why limits were not changed.
enum LimitProblem: String, Error {
    case senderUnknown = "sender_unknown"
    case approvalUsed = "approval_used"
}
