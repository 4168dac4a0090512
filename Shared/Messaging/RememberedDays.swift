import EventLoops
import Postgres

/// The days that the inbox has partitions for, in milliseconds since 1970, kept from batch to batch.
///
/// To look them up costs as much as all else that a batch asks, and they change once a day. An old answer does no harm:
/// it is used only for events inside of it, and an event whose day has been dropped since finds no room for its inbox
/// row, so its batch is rolled back and the days are looked up again.
final class RememberedDays: Sendable {
    private let times = Locked<Range<Int64>>(0..<0)

    /// Asks the database.
    static let statement: SQL = """
        SELECT (oldest_inbox_day() - date '1970-01-01')::bigint * 86400000,
            (newest_inbox_day() + 1 - date '1970-01-01')::bigint * 86400000
        """

    /// Reads its answer.
    static func times(_ rows: [PostgresRow]) throws -> Range<Int64> {
        guard let (first, end) = try rows.first?.decode(Int64?.self, Int64?.self), let first, let end else {
            return 0..<0
        }
        return first..<end
    }

    /// What is kept, when all these events lie inside; nil asks for a look.
    func covering(_ events: [IncomingEvent]) -> Range<Int64>? {
        let times = self.times.withLock { $0 }
        return events.allSatisfy { $0.isMade(within: times) } ? times : nil
    }

    /// Keeps what a committed batch has seen.
    func keep(_ times: Range<Int64>) {
        self.times.withLock { $0 = times }
    }

    /// Whether something was kept until now.
    func forget() -> Bool {
        self.times.withLock { times in
            defer { times = 0..<0 }
            return !times.isEmpty
        }
    }
}
