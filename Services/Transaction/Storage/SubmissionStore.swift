import Contracts
import Foundation
import Messaging
import Postgres
import Primitives

/// The ledger's side of a transfer on its way to the provider.
///
/// Each method is one call of one database function with the whole batch, first in its transaction: the functions lock
/// in one global order.
struct SubmissionStore: Sendable {
    private static let actor = "worker"

    /// Longest a call to the provider may take; a third of the job's lease.
    static let callDeadline = Duration.seconds(10)

    /// Rechecks transfers and commits the calls that are to be made.
    ///
    /// The steps are in the order of the ids.
    func begin(_ ids: [UUID], in transaction: EventTransaction) async throws -> [SubmissionStep] {
        if let steps = try await self.recoverySteps(ids, in: transaction) { return steps }
        let unheard = try await self.unheard(ids, in: transaction)
        let heard = ids.filter { !unheard.contains($0) }
        var steps = try await self.steps(
            "SELECT \(Self.columns) FROM begin_submission(\(heard), \(Self.actor), \(Self.deadlineText)::interval) ORDER BY ord",
            in: transaction
        )[...]
        return ids.compactMap { unheard.contains($0) ? .stale($0) : steps.popFirst() }
    }

    /// Transfers between people about one of whom something was said that could not be handled yet.
    ///
    /// It may be that they may not send or receive, so the transfer waits, as it does while nothing is heard at all. After
    /// a day it fails for its age and needs no recheck.
    private func unheard(_ ids: [UUID], in transaction: EventTransaction) async throws -> Set<UUID> {
        // Nearly always nothing is parked, and then transfers are not looked at.
        guard try await !transaction.query("SELECT 1 FROM parked_keys LIMIT 1").isEmpty else { return [] }
        return try await Set(
            transaction.query(
                """
                SELECT t.id FROM transfers t
                WHERE t.id = ANY (\(ids)) AND t.state = 'accepted' AND t.created_at > transfa_now() - interval '24 hours'
                    AND EXISTS (SELECT 1 FROM parked_keys k WHERE k.subject IN (t.sender_id::text, t.recipient_id::text))
                """
            ).map { try $0.decode(UUID.self) }
        )
    }

    /// While a recovery is open: what may have been sent is asked about, everything else waits; nil when none is.
    private func recoverySteps(_ ids: [UUID], in transaction: EventTransaction) async throws -> [SubmissionStep]? {
        let isOpen = try await transaction.query("SELECT recovery_is_open()").first?.decode(Bool.self)
        guard isOpen == true else { return nil }
        let doubtful = try await self.doubtful(ids, in: transaction)
        return ids.map { id in
            doubtful.contains(id)
                ? .unsent(id, .doubt, reference: TransferReference.text(of: id)) : .unsent(id, .recovering)
        }
    }

    /// Those of the transfers that may have been sent before a restore and that nobody has asked about yet.
    func doubtful(_ ids: [UUID], in transaction: EventTransaction) async throws -> Set<UUID> {
        try await Set(transaction.query("SELECT doubtful(\(ids))").map { try $0.decode(UUID.self) })
    }

    /// Records that the provider has none of the transfers that may have been sent before a restore.
    func noteAbsent(_ ids: [UUID], in transaction: EventTransaction) async throws {
        try await transaction.stage("SELECT note_absent(\(ids))")
    }

    /// Commits that orders whose absence is proven are sent again, unchanged.
    func beginAgain(_ ids: [UUID], in transaction: EventTransaction) async throws -> [SubmissionStep] {
        try await self.steps(
            "SELECT \(Self.columns) FROM begin_resend(\(ids), \(Self.actor), \(Self.deadlineText)::interval) ORDER BY ord",
            in: transaction
        )
    }

    private static var deadlineText: String { "\(Self.callDeadline.wholeMilliseconds) milliseconds" }
    private static let columns = SQL(
        unsafe: """
            transfer_id, verdict, kind, reference, attempt, source_account, destination, amount, not_before,
            CASE verdict WHEN 'ask' THEN (SELECT t.parent_id FROM transfers t WHERE t.id = transfer_id) END
            """
    )

    private func steps(_ statement: SQL, in transaction: EventTransaction) async throws -> [SubmissionStep] {
        try await transaction.query(statement).map { row in
            let (id, verdict, kind, reference, attempt, source, destination, amount, notBefore, payment) =
                try row.decode(
                    UUID.self,
                    String.self,
                    String?.self,
                    String?.self,
                    Int32?.self,
                    String?.self,
                    String?.self,
                    Int64?.self,
                    Date?.self,
                    UUID?.self
                )
            guard let verdict = SubmissionStep.Verdict(rawValue: verdict) else { throw LedgerContradiction() }
            return SubmissionStep(
                transaction: id,
                verdict: verdict,
                kind: kind,
                reference: reference,
                attempt: attempt,
                sourceAccount: source,
                destination: destination,
                amount: amount,
                notBefore: notBefore,
                payment: payment
            )
        }
    }

    /// Records that the provider does not know transfers, and says which may be sent again.
    func recordAbsence(
        _ ids: [UUID],
        in transaction: EventTransaction
    ) async throws -> [(id: UUID, verdict: String, notBefore: Date?)] {
        try await transaction.query("SELECT transfer_id, verdict, not_before FROM record_absence(\(ids))").map {
            row in
            let (id, verdict, notBefore) = try row.decode(UUID.self, String.self, Date?.self)
            return (id, verdict, notBefore)
        }
    }

    /// Applies what the provider said.
    ///
    /// What repeats or comes too late changes nothing; what contradicts opens a break.
    func settle(
        _ verdicts: [(id: UUID, verdict: TransferVerdict)],
        in transaction: EventTransaction
    ) async throws -> [String] {
        guard !verdicts.isEmpty else { return [] }
        let inside = verdicts.compactMap { each in each.verdict.destination.map { (id: each.id, destination: $0) } }
        if !inside.isEmpty {
            try await transaction.stage("SELECT follow_switch(\(inside.map(\.id)), \(inside.map(\.destination)))")
        }
        let rows = try await transaction.query(
            """
            SELECT result FROM settle_payments(\(verdicts.map(\.id)), \(verdicts.map(\.verdict.outcome.rawValue)),
                \(verdicts.map(\.verdict.reason))::text[], \(verdicts.map(\.verdict.evidence)),
                \(verdicts.map(\.verdict.providerID))::text[], \(verdicts.map { _ in transaction.makeID() }),
                \(verdicts.map { _ in transaction.cause.causationID })::uuid[], \(Self.actor)) ORDER BY ord
            """
        )
        try await self.keepSessions(of: verdicts, in: transaction)
        return try rows.map { try $0.decode(String.self) }
    }

    private func keepSessions(
        of verdicts: [(id: UUID, verdict: TransferVerdict)],
        in transaction: EventTransaction
    ) async throws {
        let known = verdicts.filter { $0.verdict.sessionID != nil }
        guard !known.isEmpty else { return }
        try await transaction.stage(
            """
            INSERT INTO provider_sessions (transfer_id, session_id)
            SELECT x.id, x.session FROM unnest(\(known.map(\.id)), \(known.map(\.verdict.sessionID))::text[])
                AS x(id, session) ORDER BY x.id
            ON CONFLICT DO NOTHING
            """
        )
    }

    /// Notes how calls ended, for the trace.
    func finish(
        _ calls: [(reference: String, attempt: Int32, outcome: String)],
        in transaction: EventTransaction
    ) async throws {
        guard !calls.isEmpty else { return }
        try await transaction.stage(
            "SELECT finish_calls(\(calls.map(\.reference)), \(calls.map(\.attempt)), \(calls.map(\.outcome)))"
        )
    }

    /// Keeps what the provider said when it was asked: evidence for people, when it decides nothing.
    func keep(_ said: [(id: UUID, word: String)], in transaction: EventTransaction) async throws {
        guard !said.isEmpty else { return }
        try await transaction.stage(
            """
            INSERT INTO provider_answers AS a (transfer_id, answer, first_seen_at, last_seen_at)
            SELECT DISTINCT x.id, x.word, transfa_now(), transfa_now()
            FROM unnest(\(said.map(\.id)), \(said.map(\.word))) AS x(id, word) ORDER BY 1, 2
            ON CONFLICT (transfer_id, answer) DO UPDATE
            SET times = a.times + 1, last_seen_at = excluded.last_seen_at
            """
        )
    }

    /// Whether money of a transfer came back so lately that the provider may still call it reversed; nil when none did.
    ///
    /// For the day in which `expected_at_provider()` explains the balance with it; then a person has to look.
    func mayBeReversed(_ id: UUID, on database: EventDatabase) async throws -> Bool? {
        try await database.client.query(
            """
            SELECT max(received_at) > transfa_now() - interval '1 day' FROM inbound_payments
            WHERE transfer_id = \(id) AND disposition = 'matched'
            """
        ).first?.decode(Bool?.self)
    }

    /// Books money that is nobody's, once per payment of the provider.
    func hold(_ payment: WalletCredit, in transaction: EventTransaction) async throws {
        try await transaction.stage(
            """
            SELECT hold_unmatched(\(payment.providerPaymentID), \(payment.account), \(payment.amount),
                \(transaction.makeID()), \("payment:" + payment.providerPaymentID), \(payment.correlation))
            """
        )
    }

    /// Credits money from outside, once per payment of the provider.
    func credit(
        _ payments: [WalletCredit],
        in transaction: EventTransaction
    ) async throws -> [(transaction: UUID?, result: String)] {
        try await transaction.query(
            """
            SELECT transfer_id, CASE WHEN result = 'unknown_account' AND user_id IS NOT NULL THEN 'recovering'
                ELSE result END FROM credit_inbound(\(payments.map(\.providerPaymentID)),
                \(payments.map(\.account)), \(payments.map(\.amount)), \(payments.map(\.reference))::text[],
                \(payments.map { _ in transaction.makeID() }), \(payments.map { "payment:" + $0.providerPaymentID }),
                \(payments.map(\.correlation))::uuid[]) ORDER BY ord
            """
        ).map { row in
            let (id, result) = try row.decode(UUID?.self, String.self)
            return (id, result)
        }
    }
}

/// The database answered with a word that this version of the service does not know: it is older than its migrations.
struct LedgerContradiction: Error {}

/// Money from outside that is to be credited.
struct WalletCredit: Sendable, Codable {
    var providerPaymentID: String
    var account: String
    var amount: Int64
    var reference: String?
    var correlation: UUID?
    /// Whether account knows nobody whose account it is.
    var isUnmatched: Bool?
}
