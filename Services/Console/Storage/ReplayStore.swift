import Contracts
import Foundation
import Messaging
import Postgres
import Primitives

/// The rows of replays.
struct ReplayStore: Sendable {
    /// Another replay into the same service is under way.
    struct UnderWay: Error {}

    /// So many changes and problems of a replay are kept.
    static let keptChanges: Int64 = 10_000
    static let keptProblems: Int64 = 1000

    // MARK: Looking

    private static let columns: SQL = """
        id, service, mode, effects, rate, selection, operator, reason, up_to, planned, state, place, done, applied, known,
        refused, failed, differing, error, created_at, updated_at, finished_at, projection
        """

    /// One replay.
    func find(_ id: UUID, on database: EventDatabase) async throws -> Replay? {
        try await database.client.query("SELECT \(Self.columns) FROM replays WHERE id = \(id)").first.map(Self.replay)
    }

    /// Replays before an id, the newest first.
    func page(before id: UUID, limit: Int, on database: EventDatabase) async throws -> [Replay] {
        try await database.client.query(
            "SELECT \(Self.columns) FROM replays WHERE id < \(id) ORDER BY id DESC LIMIT \(Int64(limit))"
        ).map(Self.replay)
    }

    /// What a dry run found behind a number: JSON, and its number.
    func changes(
        of id: UUID,
        kind: String?,
        after number: Int64,
        limit: Int,
        on database: EventDatabase
    ) async throws -> [(number: Int64, body: String)] {
        try await database.client.query(
            """
            SELECT number, body FROM replay_changes
            WHERE replay_id = \(id) AND number > \(number) AND (\(kind)::text IS NULL OR kind = \(kind))
            ORDER BY number LIMIT \(Int64(limit))
            """
        ).map { row in
            let (number, body) = try row.decode(Int64.self, String.self)
            return (number, body)
        }
    }

    /// Events that took no effect, behind a number.
    func problems(
        of id: UUID,
        after number: Int64,
        limit: Int,
        on database: EventDatabase
    ) async throws -> [(number: Int64, problem: ReplayTrouble)] {
        try await database.client.query(
            """
            SELECT number, event_id, type, subject, outcome, reason FROM replay_problems
            WHERE replay_id = \(id) AND number > \(number) ORDER BY number LIMIT \(Int64(limit))
            """
        ).map { row in
            let (number, event, type, subject, outcome, reason) =
                try row.decode(Int64.self, UUID.self, String.self, String.self, String.self, String.self)
            return (number, ReplayTrouble(event: event, type: type, subject: subject, outcome: outcome, reason: reason))
        }
    }

    private static func replay(_ row: PostgresRow) throws -> Replay {
        let words = try row.decode(UUID.self, String.self, String.self, String.self, Int32.self, String.self)
        let (id, service, mode, effects, rate, selection) = words
        guard let service = ServiceName(rawValue: service), let mode = Replay.Mode(rawValue: mode),
            let effects = Replay.Effects(rawValue: effects),
            let state = Replay.State(rawValue: try row.decode(column: "state"))
        else { throw UnknownWord() }
        return Replay(
            id: id,
            order: Replay.Order(
                service: service,
                mode: mode,
                effects: effects,
                rate: Int(rate),
                selection: try Self.selection(selection),
                projection: try row.decode(column: "projection")
            ),
            operatorName: try row.decode(column: "operator"),
            reason: try row.decode(column: "reason"),
            upTo: try row.decode(column: "up_to"),
            planned: try row.decode(column: "planned"),
            createdAt: try row.decode(column: "created_at"),
            state: state,
            place: try row.decode(column: "place"),
            counts: try Self.counts(row),
            error: try row.decode(column: "error"),
            updatedAt: try row.decode(column: "updated_at"),
            finishedAt: try row.decode(column: "finished_at")
        )
    }

    /// A row of a newer version of this service.
    struct UnknownWord: Error {}

    private static func counts(_ row: PostgresRow) throws -> Replay.Counts {
        Replay.Counts(
            done: try row.decode(column: "done"),
            applied: try row.decode(column: "applied"),
            known: try row.decode(column: "known"),
            refused: try row.decode(column: "refused"),
            failed: try row.decode(column: "failed"),
            differing: try row.decode(column: "differing")
        )
    }

    private static func selection(_ text: String) throws -> ReplaySelection {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .millisecondsSince1970
        return try decoder.decode(ReplaySelection.self, from: Data(text.utf8))
    }

    static func text(of selection: ReplaySelection) throws -> String {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .millisecondsSince1970
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(selection), as: UTF8.self)
    }
}
