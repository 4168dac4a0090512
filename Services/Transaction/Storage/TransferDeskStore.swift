import Foundation
import Messaging
import Postgres
import Primitives

/// Transfers as operators see them, and what two of them decide; as worker, for no user's request comes here.
struct TransferDeskStore: Sendable {
    let client: PostgresClient

    /// How long a proposal waits for its approval.
    static let validity = Duration.seconds(86_400)

    /// A state that transfers are listed by.
    enum State: String, Sendable, CaseIterable {
        case accepted
        case submitted
        case unknown
        case completed
        case failed
        case reversed
    }

    /// Transfers in a state; those under way with the oldest first, those that have ended with the newest first.
    func list(_ state: State, limit: Int) async throws -> String {
        let word = SQL(unsafe: "'\(state.rawValue)'")
        let (found, order): (SQL, SQL) =
            switch state {
            // Found by the jobs that accompany them: the state has no index, and each half has a partial one.
            case .accepted, .submitted:
                (
                    """
                    SELECT key::uuid FROM jobs WHERE kind = \(TransactionJob.submit.rawValue) AND state = 'queued'
                    UNION ALL
                    SELECT key::uuid FROM jobs WHERE kind = \(TransactionJob.submit.rawValue) AND state = 'running'
                    """, "t.id"
                )
            case .unknown: ("SELECT h.transfer_id FROM transfer_steps h WHERE h.state = 'unknown'", "t.id")
            case .completed:
                (
                    "SELECT x.id FROM transfers x WHERE x.state = 'completed' ORDER BY x.id DESC LIMIT \(Int64(limit))",
                    "t.id DESC"
                )
            case .failed, .reversed:
                (
                    """
                    SELECT h.transfer_id FROM transfer_steps h WHERE h.state = \(word)
                    ORDER BY h.happened_at DESC LIMIT \(Int64(2 * limit))
                    """, "t.id DESC"
                )
            }
        return try await self.text(
            """
            SELECT coalesce(json_agg(x.entry ORDER BY x.place), '[]')::text FROM (
                SELECT json_strip_nulls(json_build_object(\(Self.members))) AS entry,
                    row_number() OVER (ORDER BY \(order)) AS place
                FROM transfers t WHERE t.id IN (\(found)) AND t.state = \(word) ORDER BY \(order) LIMIT \(Int64(limit))
            ) x
            """
        ) ?? "[]"
    }

    /// A transfer with its history and what the provider has said; nil when there is none.
    func transfer(_ id: UUID) async throws -> String? {
        try await self.text(
            """
            SELECT json_strip_nulls(json_build_object(\(Self.members),
                'provider_id', t.provider_id, 'failure_reason', t.failure_reason, 'ended_at', t.ended_at,
                'session_id', (SELECT s.session_id FROM provider_sessions s WHERE s.transfer_id = t.id),
                'history', \(Self.history), 'calls', \(Self.calls), 'absences', \(Self.absences),
                'answers', \(Self.answers),
                'proposals', (SELECT coalesce(json_agg(\(Self.proposal) ORDER BY p.proposed_at DESC, p.id DESC), '[]')
                    FROM transfer_proposals p WHERE p.transfer_id = t.id)))::text
            FROM transfers t WHERE t.id = \(id)
            """
        )
    }

    /// Proposals that wait for another operator, the oldest first.
    func proposals(limit: Int) async throws -> String {
        try await self.text(
            """
            SELECT coalesce(json_agg(\(Self.proposal) ORDER BY p.proposed_at, p.id), '[]')::text FROM (
                SELECT * FROM transfer_proposals WHERE state = 'open' AND expires_at > transfa_now()
                ORDER BY proposed_at, id LIMIT \(Int64(limit))) p
            """
        ) ?? "[]"
    }

    private func text(_ statement: SQL) async throws -> String? {
        try await self.client.query(statement).first?.decode(String.self)
    }

    private static let members: SQL = """
        'id', t.id, 'type', t.type, 'state', t.state, 'route', t.route, 'route_reason', t.route_reason,
        'amount', t.amount, 'fee', t.fee, 'duty', t.duty, 'sender_id', t.sender_id, 'recipient_id', t.recipient_id,
        'reference', t.reference, 'created_at', t.created_at,
        'state_since', (SELECT max(h.happened_at) FROM transfer_steps h WHERE h.transfer_id = t.id),
        'proposal', (SELECT \(proposal) FROM transfer_proposals p
            WHERE p.transfer_id = t.id AND p.state = 'open' AND p.expires_at > transfa_now())
        """

    /// A proposal `p`, as JSON.
    static let proposal: SQL = """
        json_strip_nulls(json_build_object('id', p.id, 'transaction_id', p.transfer_id, 'outcome', p.outcome,
            'reason', p.reason,
            'state', CASE WHEN p.state = 'open' AND p.expires_at <= transfa_now() THEN 'expired' ELSE p.state END,
            'proposed_by', p.proposed_by, 'proposed_at', p.proposed_at, 'expires_at', p.expires_at,
            'decided_by', p.decided_by, 'decided_at', p.decided_at))
        """

    private static let history: SQL = """
        (SELECT coalesce(json_agg(json_build_object('step', h.step, 'state', h.state, 'actor', h.actor,
            'evidence', h.evidence, 'happened_at', h.happened_at) ORDER BY h.step), '[]')
         FROM transfer_steps h WHERE h.transfer_id = t.id)
        """

    private static let calls: SQL = """
        (SELECT coalesce(json_agg(json_build_object('attempt', c.attempt, 'started_at', c.started_at,
            'ended_at', c.ended_at, 'outcome', c.outcome) ORDER BY c.attempt), '[]')
         FROM provider_calls c WHERE c.reference = t.reference)
        """

    private static let absences: SQL = """
        (SELECT coalesce(json_agg(json_build_object('attempt', a.attempt, 'first_seen_at', a.first_seen_at,
            'last_seen_at', a.last_seen_at) ORDER BY a.attempt), '[]')
         FROM transfer_absences a WHERE a.transfer_id = t.id)
        """

    private static let answers: SQL = """
        (SELECT coalesce(json_agg(json_build_object('answer', a.answer, 'times', a.times,
            'first_seen_at', a.first_seen_at, 'last_seen_at', a.last_seen_at) ORDER BY a.last_seen_at), '[]')
         FROM provider_answers a WHERE a.transfer_id = t.id)
        """
}
