import Contracts
import Foundation
import Messaging
import Postgres
import Primitives

/// The ledger's side of a recovery; as worker, for no user's request comes here.
struct RecoveryStore: Sendable {
    let client: PostgresClient
    /// The provider's account that holds the money of drops.
    let poolAccount: String

    /// What became of an operator's wish to end a recovery.
    enum Ending: String, Sendable {
        case ended
        /// Something is missing; the state says what.
        case incomplete
        /// There is no such recovery.
        case missing
    }

    /// What became of an operator's wish to accept what differs on an account.
    enum Acceptance: String, Sendable {
        case accepted
        /// There is no such recovery.
        case noRecovery = "no_recovery"
        /// The recovery has no such account.
        case missing
        case ended
        /// Not since everything that was under way has arrived.
        case notLookedAt = "not_looked_at"
        case agrees
        /// Something else differs than what the operator has seen.
        case changed
    }

    /// The most differences of an account that are written down; of the rest there is a mark.
    private static let noted = 20

    /// The one that is open; nil when none is.
    func open() async throws -> Recovery? {
        let rows = try await self.client.query(
            "SELECT id, restored_to, begun_at FROM recoveries WHERE ended_at IS NULL"
        )
        return try rows.first.map { row in
            let (id, restored, begun) = try row.decode(UUID.self, Date.self, Date.self)
            return Recovery(id: id, restoredTo: restored, begunAt: begun)
        }
    }

    // MARK: What operators do and see

    /// Begins one; the open one when there is one.
    ///
    /// The function records it, as it does in a restore, which runs no service yet.
    func begin(_ restoredTo: Date, by order: OperatorOrder, in transaction: EventTransaction) async throws -> UUID {
        let rows = try await transaction.query(
            """
            SELECT begin_recovery(\(restoredTo), \(order.name), \(order.reason), p_request => \(order.request))
            """
        )
        guard let id = try rows.first?.decode(UUID.self) else { throw LedgerContradiction() }
        return id
    }

    /// Ends one, unless something is missing, and records that.
    func end(_ id: UUID, by order: OperatorOrder, in transaction: EventTransaction) async throws -> Ending {
        let rows = try await transaction.query(
            "SELECT result, forgotten FROM end_recovery(\(id), \(order.name), \(order.reason))"
        )
        guard let (word, forgotten) = try rows.first?.decode(String.self, Int64?.self),
            let ending = Ending(rawValue: word)
        else { throw LedgerContradiction() }
        // Nothing was done when it had ended before.
        if let forgotten {
            let after = ["forgotten": forgotten]
            try await transaction.record("recovery.ended", on: id.lowercased, after: after, by: order)
        }
        return ending
    }

    /// What was accepted as the audit shows it.
    private struct AuditedDifference: Encodable, Sendable {
        let account: String
        let differences: Int64
        let detail: String?
    }

    /// Lets what differs on an account, as the mark says, hold a recovery open no more, until something else differs.
    ///
    /// It is recorded, once.
    func accept(
        _ account: String,
        _ mark: String,
        of id: UUID,
        by order: OperatorOrder,
        in transaction: EventTransaction
    ) async throws -> Acceptance {
        let rows = try await transaction.query(
            """
            SELECT result, differences, detail
            FROM accept_difference(\(id), \(account), \(mark), \(order.name), \(order.reason))
            """
        )
        guard let (word, differences, detail) = try rows.first?.decode(String.self, Int64?.self, String?.self),
            let acceptance = Acceptance(rawValue: word)
        else { throw LedgerContradiction() }
        // Nothing was done when it was accepted before.
        if let differences {
            let after = AuditedDifference(account: account, differences: differences, detail: detail)
            try await transaction.record("recovery.difference_accepted", on: id.lowercased, after: after, by: order)
        }
        return acceptance
    }

    /// The newest recovery, or that one, with what is missing of it, as JSON; nil when there is none.
    func state(of id: UUID? = nil) async throws -> String? {
        try await self.client.query(
            """
            SELECT json_strip_nulls(json_build_object('id', r.id,
                'state', CASE WHEN r.ended_at IS NULL THEN 'open' ELSE 'ended' END,
                'restored_to', r.restored_to, 'begun_at', r.begun_at, 'begun_by', r.begun_by, 'reason', r.reason,
                'ended_at', r.ended_at, 'ended_by', r.ended_by, 'end_reason', r.end_reason,
                'accounts', (SELECT count(*) FROM recovery_accounts a WHERE a.recovery_id = r.id),
                'forgotten', (SELECT count(*) FROM forgotten_transfers f WHERE f.recovery_id = r.id),
                'missing', (SELECT json_build_object('listing', m.not_planned, 'accounts', m.accounts,
                    'transfers', m.doubts) FROM recovery_missing(r.id) m),
                'differences', (SELECT coalesce(json_agg(json_build_object('account', x.account, 'looked_at', x.looked_at,
                        'count', x.differences, 'first', split_part(x.detail, chr(10), 1),
                        'all', string_to_array(x.detail, chr(10)), 'mark', difference_mark(x.differences, x.detail),
                        'accepted_at', x.accepted_at,
                        'accepted_by', x.accepted_by, 'accept_reason', x.accept_reason)), '[]')
                    FROM (SELECT * FROM recovery_accounts a WHERE a.recovery_id = r.id AND a.differences > 0
                        ORDER BY a.accepted_at IS NOT NULL, a.account LIMIT 100) x)))::text
            FROM recoveries r WHERE \(id)::uuid IS NULL OR r.id = \(id) ORDER BY r.begun_at DESC, r.id DESC LIMIT 1
            """
        ).first?.decode(String.self)
    }

    /// What the ledger had forgotten, the oldest first, as JSON.
    func forgotten(_ id: UUID, limit: Int) async throws -> String {
        try await self.client.query(
            """
            SELECT coalesce(json_agg(json_strip_nulls(json_build_object('provider_id', f.provider_id,
                'transaction_id', f.transfer_id, 'reference', f.reference, 'source', f.source,
                'destination', f.destination, 'counterparty', f.counterparty, 'amount', f.amount, 'status', f.status,
                'made_at', f.made_at, 'found_at', f.found_at, 'type', t.type, 'state', t.state,
                'route_reason', t.route_reason, 'sender_id', t.sender_id, 'recipient_id', t.recipient_id))
                ORDER BY f.made_at, f.provider_id), '[]')::text
            FROM (SELECT * FROM forgotten_transfers WHERE recovery_id = \(id)
                ORDER BY made_at, provider_id LIMIT \(Int64(limit))) f
            JOIN transfers t ON t.id = f.transfer_id
            """
        ).first?.decode(String.self) ?? "[]"
    }

    // MARK: What jobs do

    /// Finds the accounts that are to be compared and asks for those that do not agree yet.
    func `continue`(in transaction: EventTransaction) async throws {
        try await transaction.stage("SELECT continue_recovery(\(self.poolAccount))")
    }

    /// Books a transfer that the provider made between two accounts and that the ledger does not know, once.
    func book(
        _ transfer: TheirBooks.Transfer,
        from source: String,
        to destination: String?,
        madeAt moment: Date,
        in transaction: EventTransaction
    ) async throws {
        let id = TransferReference.transaction(in: transfer.reference) ?? transaction.makeID()
        try await transaction.stage(
            """
            SELECT recover_transfer(\(transfer.id), \(transfer.reference), \(source), \(destination),
                \(transfer.counterparty), \(transfer.amount), \(transfer.status.rawValue), \(moment), \(id),
                \(self.poolAccount))
            """
        )
    }

    /// Payments that we were about to send to a bank and that the provider made to the recipient's account.
    func followSwitches(_ made: [(id: UUID, destination: String)], in transaction: EventTransaction) async throws {
        guard !made.isEmpty else { return }
        try await transaction.stage("SELECT follow_switch(\(made.map(\.id)), \(made.map(\.destination)))")
    }

    /// The next transfers of an account that are older than what is listed and were not asked about, the newest first.
    ///
    /// Such as may have come back: those that arrived.
    func unasked(
        of account: ReconciliationStore.Account,
        before moment: Date,
        _ recovery: Recovery,
        limit: Int
    ) async throws -> [UUID] {
        let rows = try await self.client.query(
            """
            SELECT unasked_transfers(\(recovery.id), \(account.name), \(account.user), \(moment.firstID),
                \(Int32(limit)))
            """
        )
        return try rows.map { try $0.decode(UUID.self) }
    }

    /// Notes down to which transfer an account was asked about: the next look goes on from there.
    func noteAsked(_ id: UUID, of account: String, _ recovery: Recovery, in transaction: EventTransaction) async throws
    {
        try await transaction.stage("SELECT note_asked(\(recovery.id), \(account), \(id))")
    }

    /// Takes note of money from outside that account has not told of, and books it when that has lasted.
    func book(_ payment: TheirBooks.Payment, on account: String, in transaction: EventTransaction) async throws {
        let rows = try await transaction.query(
            """
            SELECT recover_payment(\(payment.id), \(account), \(payment.amount), \(transaction.makeID()),
                p_reference => \(payment.reference))
            """
        )
        // Money of a transfer of ours that came back: the provider says how it stands.
        guard try rows.first?.decode(String.self) == "matched", let reference = payment.reference,
            let id = TransferReference.transaction(in: reference)
        else { return }
        try await transaction.requeueCheck(of: id)
    }

    /// Writes down what a look at an account left.
    func note(
        _ differences: [BookDifference],
        of account: String,
        _ recovery: Recovery,
        lookedAt moment: Date,
        in transaction: EventTransaction
    ) async throws {
        // In one order: the same differences are the same text, by which an acceptance of them stays.
        try await self.note(differences.map(\.line).sorted(), of: account, recovery, moment, in: transaction)
    }

    /// Writes down that an account could not be looked at: people may accept that too.
    func noteUnreadable(
        _ account: String,
        because reason: String,
        _ recovery: Recovery,
        lookedAt moment: Date,
        in transaction: EventTransaction
    ) async throws {
        try await self.note(["unreadable: \(reason)"], of: account, recovery, moment, in: transaction)
    }

    private func note(
        _ lines: [String],
        of account: String,
        _ recovery: Recovery,
        _ moment: Date,
        in transaction: EventTransaction
    ) async throws {
        let detail = lines.isEmpty ? nil : lines.prefix(Self.noted).joined(separator: "\n")
        let rest = lines.count <= Self.noted ? nil : lines.dropFirst(Self.noted).joined(separator: "\n")
        try await transaction.stage(
            """
            SELECT note_recovered(\(recovery.id), \(account), \(moment), \(Int64(lines.count)),
                \(detail)::text || coalesce(chr(10) || 'and others: ' || md5(\(rest)::text), ''))
            """
        )
    }
}

extension BookDifference {
    /// On one line, as operators see it.
    ///
    /// Of a balance what it is off by: while that stays, money that comes in makes no other difference of it.
    fileprivate var line: String {
        guard let gap = self.gap else {
            return "\(self.kind.rawValue) \(self.key): ours \(self.ours ?? "-"), theirs \(self.theirs ?? "-")"
        }
        return "balance: they have \(abs(gap)) kobo \(gap < 0 ? "less" : "more") than we account for"
    }
}
