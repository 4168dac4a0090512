import Contracts
import Foundation
import Messaging
import Postgres
import Primitives

/// Money that waits in suspense, as operators see it.
struct SuspendedMoney: Sendable, Encodable {
    /// What an operator wants done with it.
    struct Release: Sendable, Encodable, Equatable {
        let id: UUID
        let disposition: String
        let reason: String
        let proposedBy: String
        /// `proposed`; `approved` while its order to the provider is under way.
        let state: String
        /// The bank account of a payout.
        let beneficiaryID: UUID?

        private enum CodingKeys: String, CodingKey {
            case id
            case disposition
            case reason
            case proposedBy = "proposed_by"
            case state
            case beneficiaryID = "beneficiary_id"
        }
    }

    let id: UUID
    let type: String
    let userID: UUID?
    let amount: Int64
    let since: Date
    let release: Release?

    private enum CodingKeys: String, CodingKey {
        case id
        case type
        case userID = "user_id"
        case amount
        case since
        case release
    }
}

/// Money in suspense and what two operators do with it; as worker, for no user's request comes here.
struct SuspenseStore: Sendable {
    /// Where the money goes.
    enum Disposition: String, Sendable, Decodable {
        case credit
        case giveBack = "return"
        /// To a bank account of somebody whose profile is closed.
        case payOut = "payout"
    }

    let client: PostgresClient

    /// What waits, the oldest first.
    func waiting(limit: Int) async throws -> [SuspendedMoney] {
        let rows = try await self.client.query(
            """
            SELECT t.id, t.type, t.recipient_id, t.amount, t.created_at, r.id, r.disposition, r.reason,
                r.proposed_by, r.state, r.beneficiary_id
            FROM transfers t
            LEFT JOIN suspense_releases r ON r.transfer_id = t.id AND r.state IN ('proposed', 'approved')
            WHERE t.route_reason = 'suspense' AND t.state = 'completed' ORDER BY t.id LIMIT \(Int64(limit))
            """
        )
        return try rows.map { row in
            let (id, type, user, amount, since, release, disposition, reason, proposer, state, bank) = try row.decode(
                UUID.self,
                String.self,
                UUID?.self,
                Int64.self,
                Date.self,
                UUID?.self,
                String?.self,
                String?.self,
                String?.self,
                String?.self,
                UUID?.self
            )
            return SuspendedMoney(
                id: id,
                type: type,
                userID: user,
                amount: amount,
                since: since,
                release: release.map {
                    SuspendedMoney.Release(
                        id: $0,
                        disposition: disposition ?? "",
                        reason: reason ?? "",
                        proposedBy: proposer ?? "",
                        state: state ?? "",
                        beneficiaryID: bank
                    )
                }
            )
        }
    }

    // MARK: Deciding

    /// A release as the audit shows it.
    private struct AuditedRelease: Encodable, Sendable {
        let release: String
        var state: String?
        var proposedBy: String?
        var disposition: String?
        var reason: String?
        var amount: Int64?
        var beneficiaryID: String?

        private enum CodingKeys: String, CodingKey {
            case release
            case state
            case proposedBy = "proposed_by"
            case disposition
            case reason
            case amount
            case beneficiaryID = "beneficiary_id"
        }
    }

    /// Proposes a release and records that; `proposed`, or why not.
    func propose(
        _ release: UUID,
        of money: UUID,
        _ disposition: Disposition,
        to beneficiary: UUID? = nil,
        by order: OperatorOrder,
        in transaction: EventTransaction
    ) async throws -> String {
        let rows = try await transaction.query(
            """
            SELECT result, amount
            FROM propose_release(\(release), \(money), \(disposition.rawValue), \(order.reason), \(order.name),
                p_beneficiary => \(beneficiary))
            """
        )
        guard let (word, amount) = try rows.first?.decode(String.self, Int64?.self) else { throw LedgerContradiction() }
        if let amount {
            let after = AuditedRelease(
                release: release.lowercased,
                disposition: disposition.rawValue,
                reason: order.reason,
                amount: amount,
                beneficiaryID: beneficiary?.lowercased
            )
            try await transaction.record("suspense.proposed", on: money.lowercased, after: after, by: order)
        }
        return word
    }

    /// Approves or rejects what another operator proposed, and records that; `approved`, `rejected`, or why not.
    func decide(
        _ release: UUID,
        approve: Bool,
        by name: String,
        in transaction: EventTransaction
    ) async throws -> String {
        let rows = try await transaction.query(
            """
            SELECT result, transfer_id, disposition, proposed_by, reason, amount
            FROM decide_release(\(release), \(name), \(approve))
            """
        )
        guard
            let (word, money, disposition, proposer, reason, amount) = try rows.first?.decode(
                String.self,
                UUID?.self,
                String?.self,
                String?.self,
                String?.self,
                Int64?.self
            )
        else { throw LedgerContradiction() }
        if let money {
            guard let reason else { throw LedgerContradiction() }
            try await transaction.record(
                "suspense.\(word)",
                on: money.lowercased,
                before: AuditedRelease(release: release.lowercased, state: "proposed", proposedBy: proposer),
                after: AuditedRelease(
                    release: release.lowercased,
                    state: word,
                    disposition: disposition,
                    reason: reason,
                    amount: amount
                ),
                // The proposal says why; who decides says only whether.
                by: OperatorOrder(name: name, reason: reason, request: transaction.cause.correlationID)
            )
        }
        return word
    }
}
