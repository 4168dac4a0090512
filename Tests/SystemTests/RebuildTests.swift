import Contracts
import Foundation
import Glibc
import Primitives
import TestSupport
import Testing

extension ServiceFaults {
    /// A projection that is made again from the archive, by processes that are killed; `TRANSFA_TEST_LONG=1` takes as many events
    /// as operators would.
    @Suite(.serialized, .runningSuite(.only(["analytics", "console"])))
    struct RebuildProcessTests {
        private static let isLong = ProcessInfo.processInfo.environment["TRANSFA_TEST_LONG"] == "1"
        private static let order = [
            "--rebuild", "money", "--service", "analytics", "--rate", "20000", "--json",
        ]

        private struct Begun: Decodable {
            let id: String
        }

        @Test("made again while events come and both sides are killed, the projection equals the live one, row for row")
        func rebuilt() async throws {
            let suite = try RunningSuite.current
            let transfers = try MadeUpTransfers(count: Self.isLong ? 50_000 : 3000)
            let half = transfers.events.count / 2
            try await suite.publish(Array(transfers.events[..<half]))
            try await Self.await(half / 2, suite)

            // Console dies after the service has taken the first page, and before it has noted so.
            await (try suite.process("console")).terminate()
            let dying = try await suite.start("console", extra: ["TRANSFA_CRASH_AT": "before_replay_place"])
            let begun = try await suite.replay(Self.order + ["--detach"] + RunningSuite.acting)
            let replay = try JSONDecoder().decode(Begun.self, from: Data(begun.utf8)).id
            try await suite.publish(Array(transfers.events[half...]))
            #expect(await dying.exit() == .code(137))
            try await suite.start("console")
            let lease = "UPDATE jobs SET lease_until = transfa_now() - interval '1 second' WHERE state = 'running'"
            try await suite.rows("console", lease)
            #expect(await (try suite.process("analytics")).kill() == .signal(SIGKILL))
            try await suite.start("analytics")
            let followed = try await suite.replayExit(["show", replay, "--follow", "--json"])
            #expect(followed.exit == .code(0), "\(followed.output)")

            try await Self.await(transfers.distinct, suite)
            #expect(try await suite.number("SELECT live FROM projections", of: "analytics") == 2)
            #expect(try await suite.shownTotals() == transfers.totals)
            let acts = "SELECT act, actor, reason FROM audit_log ORDER BY number"
            #expect(
                try await suite.rows("analytics", acts)
                    == ["projection.rebuild_begun|grace|a test", "projection.rebuilt|grace|a test"]
            )
            try await Self.again(suite, transfers)
        }

        /// Now that nothing comes, both can be held against each other.
        private static func again(_ suite: RunningSuite, _ transfers: MadeUpTransfers) async throws {
            let counted = try await Self.rows(suite)
            #expect(counted.count > transfers.distinct / 2)
            let ended = try await suite.replay(Self.order + RunningSuite.acting)
            #expect(ended.contains(#""state":"finished""#) && ended.contains(#""projection":"money""#), "\(ended)")
            #expect(try await suite.number("SELECT live FROM projections", of: "analytics") == 3)
            #expect(try await Self.rows(suite) == counted)
            let changed = "SELECT rows_changed, applied FROM projection_rebuilds WHERE generation = 3"
            #expect(try await suite.rows("analytics", changed) == ["0|\(transfers.distinct)"])
            try await eventually("the old generations to be gone", within: .seconds(60), every: .milliseconds(200)) {
                let old =
                    "SELECT (SELECT count(*) FROM movements WHERE generation < 3) + (SELECT count(*) FROM projection_events)"
                return try await suite.number(old, of: "analytics") == 0
            }

            let none = ["--rebuild", "nothing", "--service", "analytics"] + RunningSuite.acting
            #expect(try await suite.replayExit(none).exit == .code(2))
            #expect(try await suite.replayExit(Self.order + ["--dry-run"] + RunningSuite.acting).exit == .code(64))
            // As if the archive had begun only now.
            try await suite.rows("analytics", "UPDATE projections SET since = '2020-01-01'")
            let refused = try await suite.replayExit(Self.order + RunningSuite.acting)
            #expect(refused.exit == .code(2) && refused.output.contains("archive_begins_later"), "\(refused.output)")
        }

        private static func await(_ count: Int, _ suite: RunningSuite) async throws {
            try await eventually("\(count) handled events", within: .seconds(120), every: .milliseconds(100)) {
                let handled = "SELECT count(*) FROM inbox WHERE outcome = 'handled'"
                return try await suite.number(handled, of: "analytics") >= count
            }
        }

        /// What people see, row by row.
        private static func rows(_ suite: RunningSuite) async throws -> [String] {
            let tables = ["facts", "movements", "day_totals", "day_categories"].map { table in
                "SELECT '\(table)', to_jsonb(t) - 'generation' FROM \(table) t WHERE generation = (SELECT live FROM projections)"
            }
            return try await suite.rows("analytics", tables.joined(separator: " UNION ALL ") + " ORDER BY 1, 2")
        }
    }
}
