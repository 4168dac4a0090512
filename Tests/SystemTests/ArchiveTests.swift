import Contracts
import Foundation
import Glibc
import NIOHTTP1
import Primitives
import TestSupport
import Testing

/// The archive as operators see it, with all services running.
extension Faults {
    @Suite struct ArchiveTests {
        @Test("every event that any service has published is in the archive once, as it was published")
        func everything() async throws {
            let suite = try RunningSuite.current
            _ = try await suite.person("archived", funding: 1000)
            for service in SuiteEnvironment.names {
                let published = "SELECT id FROM outbox WHERE sent_at IS NOT NULL AND type NOT LIKE '%.heartbeat'"
                let ids = Set(try await suite.rows(service, published))
                try await eventually("the events of \(service)", within: .seconds(20), every: .milliseconds(200)) {
                    let archived = "SELECT id FROM archived_events WHERE source = '\(service)'"
                    return ids.isSubset(of: try await suite.rows("console", archived))
                }
            }
            #expect(try await suite.number("SELECT count(*) FROM malformed_messages", of: "console") == 0)
            // The personal data that people gave is nowhere in it.
            let clear = "SELECT count(*) FROM archived_events WHERE body LIKE '%Testperson%'"
            #expect(try await suite.number(clear, of: "console") == 0)
        }

        @Test("the outboxes of all services can be read page by page, and a back-fill finds nothing that is missing")
        func backfill() async throws {
            let suite = try RunningSuite.current
            let first = try await suite.operate("GET", "auth", "/internal/ops/outbox/events?limit=2")
            let lines = first.text.split(separator: "\n")
            #expect(lines.count == 2 && first.header("Content-Type") == "application/jsonl")
            let next = try #require(first.header("Transfa-Next"))
            let second = try await suite.operate("GET", "auth", "/internal/ops/outbox/events?limit=1&after=\(next)")
            #expect(second.text.split(separator: "\n").count == 1 && !first.text.contains(second.text))

            try await suite.awaitEverythingHeard()
            let from = Timestamp.text(Date(timeIntervalSinceNow: -86_400))
            let begun = try await suite.operate(
                "POST",
                "console",
                "/internal/archive/backfills",
                #"{"from":"\#(from)"}"#
            )
            #expect(begun.status == 202)
            try await eventually("all outboxes to be read", within: .seconds(40), every: .milliseconds(200)) {
                try await suite.number("SELECT count(*) FROM archive_gaps WHERE closed_at IS NULL", of: "console") == 0
            }
            let seen = "SELECT count(*) FROM archive_backfills WHERE seen > 0 AND finished_at IS NOT NULL"
            #expect(try await suite.number(seen, of: "console") >= 5)
            let asked = "SELECT count(*) FROM archive_gaps WHERE reason <> 'asked'"
            #expect(try await suite.number(asked, of: "console") == 0)
        }
    }
}

extension ServiceFaults {
    /// The archive as a process, fed with events that nobody but the test has published.
    @Suite(.serialized, .runningSuite(.only(["console"])))
    struct ArchiveProcessTests {
        @Test("20,000 events with a tenth repeated, the archive killed at seven moments: each is there once, in order")
        func killed() async throws {
            let suite = try RunningSuite.current
            let transfers = try MadeUpTransfers(count: 20_000)
            try await Self.awaitListening(suite)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await suite.publish(transfers.events) }
                for kill in 1...5 {
                    try await Self.awaitArchived(kill * 2500, suite)
                    #expect(await (try suite.process("console")).kill() == .signal(SIGKILL))
                    try await suite.start("console")
                }
                for place in ["before_archive_commit:3", "after_archive_commit:2"] {
                    await (try suite.process("console")).terminate()
                    let process = try await suite.start(
                        "console",
                        extra: ["TRANSFA_CRASH_AT": place],
                        awaitReady: false
                    )
                    // All may have been read before.
                    try await eventually("the crash \(place)", within: .seconds(30), every: .milliseconds(200)) {
                        try await suite.publish(try Self.some)
                        return !process.isRunning
                    }
                    #expect(await process.exit() == .code(137))
                    try await suite.start("console")
                }
                try await group.waitForAll()
            }
            try await Self.awaitArchived(transfers.distinct, suite)
            let archived =
                "SELECT id FROM archived_events WHERE subject <> '\(Self.filler.lowercased)' ORDER BY position"
            var known: Set<UUID> = []
            let expected = transfers.events.map(\.id).filter { known.insert($0).inserted }
            #expect(try await suite.rows("console", archived) == expected.map(\.lowercased))
            #expect(try await suite.number("SELECT count(*) FROM archive_gaps", of: "console") == 0)
        }

        private static let filler = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1))

        /// Events that keep it busy.
        private static var some: [StrayEvent] {
            get throws {
                let ids = UUIDv7Source()
                return try (1...5).map {
                    try StrayEvent(
                        AuthHeartbeat(at: Timestamp.text(Date())),
                        about: self.filler,
                        sequence: $0,
                        id: ids.next()
                    )
                }
            }
        }

        /// Waits until the stream is there and read: what is published before is in no stream.
        private static func awaitListening(_ suite: RunningSuite) async throws {
            try await eventually("the archive to listen", within: .seconds(30), every: .milliseconds(200)) {
                try await suite.publish(try Self.some)
                return try await suite.number("SELECT count(*) FROM archived_events", of: "console") > 0
            }
        }

        private static func awaitArchived(_ count: Int, _ suite: RunningSuite) async throws {
            try await eventually("\(count) archived events", within: .seconds(60), every: .milliseconds(50)) {
                let sql = "SELECT count(*) FROM archived_events WHERE subject <> '\(self.filler.lowercased)'"
                return try await suite.number(sql, of: "console") >= count
            }
        }
    }
}
