import Foundation
import Postgres
import Primitives
import Sealing
import ServiceKit

/// A transfer as it stands in the database, read by one of its parties.
struct TransferRow: Sendable {
    let id: UUID
    let type: String
    let state: String
    let sender: UUID?
    let recipient: UUID?
    let amount: Int64
    let fee: Int64
    let duty: Int64
    let route: String
    let description: String?
    let failureReason: String?
    let moneyDrop: UUID?
    let paymentRequest: UUID?
    let createdAt: Date
    let endedAt: Date?
}

/// Which transfers of a user are asked for.
struct HistoryFilter: Sendable {
    /// Only older ones than this.
    var before = UUID(uuid: (255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255))
    /// Only this one and newer ones.
    var from = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    /// Only of this type.
    var type: String?
    /// Only in this state, as the user sees it.
    var state: String?
}

/// A part of a user's history.
struct HistoryPage: Sendable {
    let rows: [TransferRow]
    /// Older ones than this come next; nil when there are none.
    let next: UUID?

    /// Takes one row more than the page has; with a filter there may be more below what was looked through.
    init(_ rows: [TransferRow], limit: Int, lookedDownTo place: UUID? = nil) {
        self.rows = Array(rows.prefix(limit))
        self.next = rows.count > limit ? self.rows.last?.id : place
    }
}

/// What a wallet holds.
struct WalletBalance: Sendable {
    let available: Int64
    let posted: Int64
    let held: Int64
    /// What was taken back and had been spent.
    let owed: Int64
}

/// Reads of wallets and transfers; row level security shows a user only their own.
struct HistoryStore: Sendable {
    let client: PostgresClient
    /// For the names of counterparties, which are public.
    let workers: PostgresClient
    /// How many transfers of each side a page with a filter looks through.
    var reach = 1000

    /// Money that waits in suspense is booked and yet not in the wallet: its owner sees that it waits.
    ///
    /// Who sent it has sent it, until it is returned. The user is looked up once, by a query of its own, and not for
    /// every row.
    private static let shownState = SQL(
        unsafe: """
            CASE WHEN route_reason = 'returned' AND state IN ('completed', 'reversed') THEN 'returned'
                WHEN route_reason = 'suspense' AND state = 'completed'
                    AND sender_id IS DISTINCT FROM (SELECT current_user_id()) THEN 'in_suspense' ELSE state END
            """
    )

    /// A funding is named by its drop and seen by its creator only, as the drop is; claims and refunds name their drop.
    private static let columns: SQL = """
        id, type, \(Self.shownState),
        sender_id, recipient_id, amount, fee, duty, coalesce(route, 'internal'), description, failure_reason,
        CASE WHEN type IN ('drop_claim', 'drop_refund') THEN parent_id
            WHEN type = 'money_drop' THEN (SELECT d.id FROM money_drops d WHERE d.funding_id = t.id) END,
        payment_request_id, created_at, CASE WHEN route_reason = 'suspense' AND state = 'completed'
            AND sender_id IS DISTINCT FROM current_user_id() THEN NULL ELSE ended_at END
        """

    /// How the profile of whoever asks stands.
    func state(of user: UserID) async throws -> ProfileState {
        let sql: SQL = "SELECT status = 'closed', username IS NOT NULL FROM users WHERE id = \(user.uuid)"
        guard let row = try await self.client.query(sql, as: user.uuid).first else { return .missing }
        let (isClosed, isNamed) = try row.decode(Bool.self, Bool.self)
        return isClosed ? .closed : isNamed ? .open : .missing
    }

    func wallet(of user: UserID) async throws -> WalletBalance? {
        try await self.client.query(
            "SELECT available, posted, held, owed FROM wallets WHERE user_id = \(user.uuid)",
            as: user.uuid
        ).first.map { row in
            let (available, posted, held, owed) = try row.decode(Int64.self, Int64.self, Int64.self, Int64.self)
            return WalletBalance(available: available, posted: posted, held: held, owed: owed)
        }
    }

    func transfer(_ id: UUID, for user: UserID) async throws -> TransferRow? {
        try await self.client.query(
            "SELECT \(Self.columns) FROM transfers AS t WHERE id = \(id)",
            as: user.uuid
        ).first.map(Self.decode)
    }

    /// Newest first: ids are UUIDv7, so their order is that of creation.
    func page(of user: UserID, _ filter: HistoryFilter, limit: Int) async throws -> HistoryPage {
        guard filter.type == nil, filter.state == nil else {
            return try await self.narrowPage(of: user, filter, limit: limit)
        }
        // Two index scans, merged: as one condition with OR the planner would read all of one side.
        let rows = try await self.client.query(
            """
            SELECT \(Self.columns) FROM (
                (SELECT * FROM \(Self.side("sender_id", user, filter, limit + 1)))
                UNION ALL
                (SELECT * FROM \(Self.side("recipient_id", user, filter, limit + 1)))
            ) AS t ORDER BY id DESC LIMIT \(Int64(limit + 1))
            """,
            as: user.uuid
        ).map(Self.decode)
        return HistoryPage(rows, limit: limit)
    }

    /// What fits a filter among the next `reach` transfers of each side.
    ///
    /// What is rare is not searched for through years of transfers: the page ends where both sides were looked through,
    /// and the next one goes on there. An index per word would cost every payment more than such lists are worth.
    private func narrowPage(of user: UserID, _ filter: HistoryFilter, limit: Int) async throws -> HistoryPage {
        let rows = try await self.client.query(
            """
            WITH sent AS MATERIALIZED (
                SELECT id, type, \(Self.shownState) AS shown FROM \(Self.side("sender_id", user, filter, self.reach))
            ), received AS MATERIALIZED (
                SELECT id, type, \(Self.shownState) AS shown FROM \(Self.side("recipient_id", user, filter, self.reach))
            ), looked AS (
                SELECT greatest((SELECT id FROM sent ORDER BY id DESC OFFSET \(Int64(self.reach - 1)) LIMIT 1),
                    (SELECT id FROM received ORDER BY id DESC OFFSET \(Int64(self.reach - 1)) LIMIT 1)) AS down_to
            )
            SELECT p.*, l.down_to FROM looked l LEFT JOIN LATERAL (
                SELECT \(Self.columns) FROM (
                    SELECT x.id FROM (SELECT * FROM sent UNION ALL SELECT * FROM received) x
                    WHERE (l.down_to IS NULL OR x.id >= l.down_to)
                        AND (\(filter.type)::text IS NULL OR x.type = \(filter.type))
                        AND (\(filter.state)::text IS NULL OR x.shown = \(filter.state))
                    ORDER BY x.id DESC LIMIT \(Int64(limit + 1))
                ) m JOIN transfers t USING (id)
            ) p ON true ORDER BY p.id DESC
            """,
            as: user.uuid
        )
        let downTo = try rows.first?["down_to"].decode(UUID?.self)
        let found = try rows.filter { try $0["id"].decode(UUID?.self) != nil }.map(Self.decode)
        return HistoryPage(found, limit: limit, lookedDownTo: downTo ?? nil)
    }

    /// The newest `limit` transfers of one side, whatever their type and state.
    private static func side(_ party: StaticString, _ user: UserID, _ filter: HistoryFilter, _ limit: Int) -> SQL {
        """
        (SELECT * FROM transfers
        WHERE \(unsafe: "\(party)") = \(user.uuid) AND id < \(filter.before) AND id >= \(filter.from)
            AND (type NOT IN ('inbound', 'release') OR parent_id IS NULL)
        ORDER BY id DESC LIMIT \(Int64(limit))) s
        """
    }

    /// The names of users; an erased one has the mark of all that was erased.
    func usernames(of users: [UUID]) async throws -> [UUID: String] {
        guard !users.isEmpty else { return [:] }
        let rows = try await self.workers.query(
            """
            SELECT id, coalesce(username, \(SealedField.erasedText)) FROM users
            WHERE id = ANY(\(users)) AND (username IS NOT NULL OR status = 'closed')
            """
        )
        return Dictionary(uniqueKeysWithValues: try rows.map { try $0.decode(UUID.self, String.self) })
    }

    private static func decode(_ row: PostgresRow) throws -> TransferRow {
        let (
            id, type, state, sender, recipient, amount, fee, duty, route, description, reason, drop, request, created,
            ended
        ) =
            try row.decode(
                UUID.self,
                String.self,
                String.self,
                UUID?.self,
                UUID?.self,
                Int64.self,
                Int64.self,
                Int64.self,
                String.self,
                String?.self,
                String?.self,
                UUID?.self,
                UUID?.self,
                Date.self,
                Date?.self
            )
        return TransferRow(
            id: id,
            type: type,
            state: state,
            sender: sender,
            recipient: recipient,
            amount: amount,
            fee: fee,
            duty: duty,
            route: route,
            description: description,
            failureReason: reason,
            moneyDrop: drop,
            paymentRequest: request,
            createdAt: created,
            endedAt: ended
        )
    }
}
