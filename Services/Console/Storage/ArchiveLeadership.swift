import Messaging
import Postgres

/// Lets one replica at a time read the event log: who holds a lock of the database.
struct ArchiveLeadership: Sendable {
    let database: EventDatabase

    private static let election = Duration.seconds(1)

    /// The lock is gone, and with it the right to read.
    struct Lost: Error {}

    /// Waits until it is this replica's turn, then runs `body`; cancels it when the lock is lost.
    func lead(_ body: @escaping @Sendable () async throws -> Void) async throws {
        // A connection of its own: with it ends the lock, however this ends.
        try await self.database.client.withSession { connection in
            while try await !Self.lock(connection) { try await Task.sleep(for: Self.election) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await body() }
                group.addTask { try await Self.watch(connection) }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }

    private static func lock(_ connection: PostgresConnection) async throws -> Bool {
        let rows = try await connection.query("SELECT pg_try_advisory_lock(hashtextextended('archive', 0))")
        return try rows.first?.decode(Bool.self) == true
    }

    /// Throws when the connection is gone.
    private static func watch(_ connection: PostgresConnection) async throws {
        while true {
            try await Task.sleep(for: self.election)
            _ = try await connection.query("SELECT 1")
        }
    }
}
