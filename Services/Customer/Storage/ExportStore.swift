import Contracts
import Foundation
import Messaging
import Postgres
import Primitives

/// The tables `exports` and `export_parts`.
struct ExportStore: Sendable {
    // MARK: Reads

    /// A user's newest.
    func newest(of user: UserID, on database: EventDatabase) async throws -> PersonalExport? {
        try await database.client.query(Self.newest(of: user), as: user.uuid).first.map(Self.export)
    }

    /// A user's newest, in a transaction that has locked the user.
    func newest(of user: UserID, in transaction: EventTransaction) async throws -> PersonalExport? {
        try await transaction.query(Self.newest(of: user)).first.map(Self.export)
    }

    /// One of them; for jobs.
    func find(_ id: UUID, on database: EventDatabase) async throws -> PersonalExport? {
        try await database.client.query("\(Self.columns) WHERE id = \(id)").first.map(Self.export)
    }

    /// A part of a user's export, sealed, and the service that it comes from.
    func part(
        _ number: Int,
        of export: PersonalExport,
        on database: EventDatabase
    ) async throws -> (service: String, content: Sealed)? {
        let sql: SQL = """
            SELECT service, content FROM export_parts WHERE export_id = \(export.id) AND number = \(Int32(number))
            """
        guard let row = try await database.client.query(sql, as: export.user.uuid).first else { return nil }
        let (service, content) = try row.decode(String.self, String.self)
        return (service, Sealed(content))
    }

    /// How many have failed since a moment.
    func failures(since moment: Date, on database: EventDatabase) async throws -> Int64 {
        let sql: SQL = "SELECT count(*) FROM exports WHERE state = 'failed' AND ended_at > \(moment)"
        return try await database.client.query(sql).first?.decode(Int64.self) ?? 0
    }

    // MARK: Writes

    /// A user asks.
    func insert(_ id: UUID, of user: UserID, in transaction: EventTransaction) async throws -> PersonalExport {
        let sql: SQL = """
            INSERT INTO exports (id, user_id, requested_at, place)
            VALUES (\(id), \(user.uuid), \(transaction.now), \(PersonalExport.Place.first.text))
            RETURNING \(Self.names)
            """
        guard let row = try await transaction.query(sql).first else { throw PersonalExportGone() }
        return try Self.export(row)
    }

    /// Goes on behind a page; whether nobody else has, and it is still wanted.
    func advance(
        _ export: PersonalExport,
        to place: PersonalExport.Place?,
        part: Part?,
        in transaction: EventTransaction
    ) async throws -> Bool {
        let end = place == nil
        let rows = try await transaction.query(
            """
            UPDATE exports SET place = \(place?.text), parts = parts + \(Int32(part == nil ? 0 : 1)),
                size = size + \(part?.size ?? 0), state = \(end ? "ready" : "collecting"),
                ready_at = \(end ? transaction.now : nil),
                expires_at = \(end ? transaction.now.addingTimeInterval(PersonalExport.day) : nil)
            WHERE id = \(export.id) AND state IN ('requested', 'collecting') AND place = \(export.place?.text)
            RETURNING id
            """
        )
        guard !rows.isEmpty else { return false }
        guard let part else { return true }
        try await transaction.query(
            """
            INSERT INTO export_parts (export_id, number, service, content)
            VALUES (\(export.id), \(Int32(export.parts + 1)), \(part.service.rawValue), \(part.content.text))
            """
        )
        return true
    }

    /// A page, sealed.
    struct Part: Sendable {
        let service: ServiceName
        let content: Sealed
        let size: Int64
    }

    /// Ends it without a file.
    func fail(
        _ export: PersonalExport,
        _ reason: PersonalExport.Failure,
        in transaction: EventTransaction
    ) async throws {
        try await transaction.query(
            """
            UPDATE exports SET state = 'failed', reason = \(reason.rawValue), place = NULL,
                ended_at = \(transaction.now)
            WHERE id = \(export.id) AND state IN ('requested', 'collecting')
            """
        )
        try await transaction.query("DELETE FROM export_parts WHERE export_id = \(export.id)")
    }

    /// Deletes files whose time is over, gives up what was never collected, and forgets what was asked a month ago.
    func prune(in transaction: EventTransaction) async throws {
        let now = transaction.now
        try await transaction.query(
            """
            UPDATE exports SET state = 'expired', ended_at = \(now) WHERE state = 'ready' AND expires_at <= \(now)
            """
        )
        try await transaction.query(
            """
            UPDATE exports SET state = 'failed', reason = \(PersonalExport.Failure.notCollected.rawValue), place = NULL,
                ended_at = \(now)
            WHERE state IN ('requested', 'collecting') AND requested_at < \(now.addingTimeInterval(-PersonalExport.day))
            """
        )
        try await transaction.query(
            """
            DELETE FROM export_parts p USING exports e WHERE e.id = p.export_id AND e.state IN ('failed', 'expired')
            """
        )
        try await transaction.query(
            """
            DELETE FROM exports
            WHERE requested_at < \(now.addingTimeInterval(-30 * PersonalExport.day)) AND ended_at < \(now)
            """
        )
    }

    /// Forgets an erased user's, with the files.
    func delete(of user: UserID, in transaction: EventTransaction) async throws {
        try await transaction.stage("DELETE FROM exports WHERE user_id = \(user.uuid)")
    }

    // MARK: Rows

    private static let names: SQL = """
        id, user_id, state, requested_at, place, parts, size, reason, ready_at, expires_at
        """
    private static let columns: SQL = "SELECT \(Self.names) FROM exports"

    private static func newest(of user: UserID) -> SQL {
        "\(Self.columns) WHERE user_id = \(user.uuid) ORDER BY requested_at DESC, id DESC LIMIT 1"
    }

    private static func export(_ row: PostgresRow) throws -> PersonalExport {
        let (id, user, state, requested, place, parts, size, reason, ready, expires) = try row.decode(
            UUID.self,
            UUID.self,
            String.self,
            Date.self,
            String?.self,
            Int32.self,
            Int64.self,
            String?.self,
            Date?.self,
            Date?.self
        )
        guard let state = PersonalExport.State(rawValue: state) else { throw StoredWordUnknown(table: "exports") }
        return PersonalExport(
            id: id,
            user: UserID(user),
            state: state,
            requestedAt: requested,
            place: place.flatMap { PersonalExport.Place(text: $0) },
            parts: Int(parts),
            size: size,
            reason: reason,
            readyAt: ready,
            expiresAt: expires
        )
    }
}

/// A row that was just written is not there.
struct PersonalExportGone: Error {}
