import Foundation
import Messaging
import Postgres
import Primitives

/// A proposal as the audit shows it.
private struct AuditedProposal: Encodable, Sendable {
    let proposal: String
    let outcome: String
    var state = "open"
    let proposedBy: String

    private enum CodingKeys: String, CodingKey {
        case proposal
        case outcome
        case state
        case proposedBy = "proposed_by"
    }
}

/// A transfer as the audit shows it when an outcome is proposed.
private struct AuditedTransfer: Encodable, Sendable {
    let state: String
    let amount: Int64
}

extension TransferDeskStore {
    /// Proposes how a transfer ended, and records that.
    ///
    /// - Returns: The proposal, as JSON.
    /// - Throws: `DecisionRefusal`.
    func propose(
        _ proposal: UUID,
        about transfer: UUID,
        _ outcome: DecidedOutcome,
        by order: OperatorOrder,
        in transaction: EventTransaction
    ) async throws -> String {
        let rows = try await transaction.query(
            """
            SELECT result, state, amount FROM propose_outcome(\(proposal), \(transfer), \(outcome.rawValue),
                \(order.reason), \(order.name), \(Self.validity.wholeMilliseconds) * interval '1 millisecond')
            """
        )
        guard let (word, found, kobo) = try rows.first?.decode(String.self, String?.self, Int64?.self) else {
            throw LedgerContradiction()
        }
        guard let state = found, let amount = kobo else { throw try Self.refusal(word) }
        let made = try await transaction.query(
            "SELECT \(Self.proposal)::text FROM transfer_proposals p WHERE p.id = \(proposal)"
        )
        guard let text = try made.first?.decode(String.self) else { throw LedgerContradiction() }
        try await transaction.record(
            "transfer.proposed",
            on: transfer.lowercased,
            before: AuditedTransfer(state: state, amount: amount),
            after: AuditedProposal(
                proposal: proposal.lowercased,
                outcome: outcome.rawValue,
                proposedBy: order.name
            ),
            by: order
        )
        return text
    }

    /// Approves what another operator proposed, does it, and records that.
    ///
    /// - Returns: Nil when it is approved, or why not: a refusal that closes the proposal is recorded, and must be committed
    ///   too.
    func approve(
        _ proposal: UUID,
        by name: String,
        in transaction: EventTransaction
    ) async throws -> DecisionRefusal? {
        let rows = try await transaction.query(
            """
            SELECT result, transfer_id, outcome, proposed_by, reason
            FROM approve_outcome(\(proposal), \(name), \(transaction.makeID()))
            """
        )
        guard
            let (word, transfer, outcome, proposer, reason) = try rows.first?.decode(
                String.self,
                UUID?.self,
                String?.self,
                String?.self,
                String?.self
            )
        else { throw LedgerContradiction() }
        if let transfer {
            guard let outcome, let proposer, let reason else { throw LedgerContradiction() }
            // The proposal says why; who approves says only that.
            let order = OperatorOrder(name: name, reason: reason, request: transaction.cause.correlationID)
            let open = AuditedProposal(proposal: proposal.lowercased, outcome: outcome, proposedBy: proposer)
            try await Self.record(word, open, about: transfer, by: order, in: transaction)
        }
        return word == "approved" ? nil : try Self.refusal(word)
    }

    /// Withdraws a proposal, and records that.
    ///
    /// - Throws: `DecisionRefusal`.
    func withdraw(_ proposal: UUID, by order: OperatorOrder, in transaction: EventTransaction) async throws {
        let rows = try await transaction.query(
            """
            SELECT result, transfer_id, outcome, proposed_by
            FROM withdraw_outcome(\(proposal), \(order.name))
            """
        )
        guard
            let (word, transfer, outcome, proposer) = try rows.first?.decode(
                String.self,
                UUID?.self,
                String?.self,
                String?.self
            )
        else { throw LedgerContradiction() }
        if let transfer {
            guard let outcome, let proposer else { throw LedgerContradiction() }
            let open = AuditedProposal(proposal: proposal.lowercased, outcome: outcome, proposedBy: proposer)
            try await Self.record(word, open, about: transfer, by: order, in: transaction)
        }
        guard word == "withdrawn" else { throw try Self.refusal(word) }
    }

    /// Records that an open proposal ended with a word.
    private static func record(
        _ word: String,
        _ open: AuditedProposal,
        about transfer: UUID,
        by order: OperatorOrder,
        in transaction: EventTransaction
    ) async throws {
        var closed = open
        closed.state = word
        try await transaction.record(
            "transfer.\(word)",
            on: transfer.lowercased,
            before: open,
            after: closed,
            by: order
        )
    }

    private static func refusal(_ word: String) throws -> DecisionRefusal {
        guard let refusal = DecisionRefusal(rawValue: word) else { throw LedgerContradiction() }
        return refusal
    }
}
