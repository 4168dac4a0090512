import Foundation
import Postgres
import Primitives
import Sealing

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

/// What a wallet holds.
struct WalletBalance: Sendable {
    let available: Int64
    let posted: Int64
    let held: Int64
}

/// Reads of wallets and transfers; row level security shows a user only their own.
struct HistoryStore: Sendable {
    let client: PostgresClient
    /// For the names of counterparties, which are public, and for device keys.
    let workers: PostgresClient

    /// Money that waits in suspense is booked and yet not in the wallet: its owner sees that it waits.
    private static let shownState = SQL(
        unsafe: """
            CASE WHEN state <> 'completed' THEN state WHEN route_reason = 'suspense' THEN 'in_suspense'
                WHEN route_reason = 'returned' THEN 'returned' ELSE state END
            """
    )

    /// A funding is named by its drop and seen by its creator only, as the drop is; claims and refunds name their drop.
    private static let columns: SQL = """
        id, type, \(Self.shownState),
        sender_id, recipient_id, amount, fee, duty, coalesce(route, 'internal'), description, failure_reason,
        CASE WHEN type IN ('drop_claim', 'drop_refund') THEN parent_id
            WHEN type = 'money_drop' THEN (SELECT d.id FROM money_drops d WHERE d.funding_id = t.id) END,
        payment_request_id, created_at, CASE WHEN route_reason = 'suspense' AND state = 'completed' THEN NULL ELSE ended_at END
        """

    func wallet(of user: UserID) async throws -> WalletBalance? {
        try await self.client.query(
            "SELECT available, posted, held FROM wallets WHERE user_id = \(user.uuid)",
            as: user.uuid
        ).first.map { row in
            let (available, posted, held) = try row.decode(Int64.self, Int64.self, Int64.self)
            return WalletBalance(available: available, posted: posted, held: held)
        }
    }

    func transfer(_ id: UUID, for user: UserID) async throws -> TransferRow? {
        try await self.client.query(
            "SELECT \(Self.columns) FROM transactions AS t WHERE id = \(id)",
            as: user.uuid
        ).first.map(Self.decode)
    }

    /// Newest first: ids are UUIDv7, so their order is that of creation.
    ///
    /// Two index scans, merged: as one condition with OR the planner would read all of one side.
    func page(of user: UserID, _ filter: HistoryFilter, limit: Int) async throws -> [TransferRow] {
        try await self.client.query(
            """
            SELECT \(Self.columns) FROM (
                (\(Self.side("sender_id", user, filter, limit)))
                UNION ALL
                (\(Self.side("recipient_id", user, filter, limit)))
            ) AS t ORDER BY id DESC LIMIT \(Int64(limit))
            """,
            as: user.uuid
        ).map(Self.decode)
    }

    private static func side(_ party: StaticString, _ user: UserID, _ filter: HistoryFilter, _ limit: Int) -> SQL {
        """
        SELECT * FROM transactions
        WHERE \(unsafe: "\(party)") = \(user.uuid) AND id < \(filter.before) AND id >= \(filter.from)
            AND (type <> 'inbound' OR parent_id IS NULL)
            AND (\(filter.type)::text IS NULL OR type = \(filter.type))
            AND (\(filter.state)::text IS NULL OR \(Self.shownState) = \(filter.state))
        ORDER BY id DESC LIMIT \(Int64(limit))
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

    func deviceKey(_ device: UUID, of user: UserID) async throws -> DevicePublicKey? {
        let rows = try await self.workers.query(
            """
            SELECT public_key FROM devices
            WHERE id = \(device) AND user_id = \(user.uuid) AND revoked_at IS NULL
            """
        )
        guard let row = rows.first else { return nil }
        return try? DevicePublicKey(x963: try row.decode([UInt8].self))
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
