import Contracts
import Foundation
import Glibc
import Primitives
import TestSupport
import Testing

extension ServiceFaults {
    /// Stories of one service as a process, fed with events that nobody but the test has published.
    @Suite(.serialized, .runningSuite(.only(["analytics"])))
    struct ConsumerProcessTests {
        @Test("20,000 events with a tenth repeated, the consumer killed five times: the projection is exact")
        func killed() async throws {
            let suite = try RunningSuite.current
            let before = try await suite.shownTotals()
            #expect(before.isEmpty)
            let transfers = try MadeUpTransfers(count: 20_000)
            #expect(transfers.events.count == 20_000 && transfers.distinct == 18_000)

            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await suite.publish(transfers.events) }
                for kill in 1...5 {
                    try await Self.awaitHandled(kill * 3000, suite)
                    #expect(await (try suite.process("analytics")).kill() == .signal(SIGKILL))
                    #expect(try await Self.handled(suite) < transfers.distinct)
                    try await suite.start("analytics")
                }
                try await group.waitForAll()
            }
            try await Self.awaitHandled(transfers.distinct, suite)
            try await eventually("an empty queue") { try await suite.length(of: "analytics.p0") == 0 }
            #expect(try await Self.handled(suite) == transfers.distinct)
            #expect(try await suite.shownTotals() == transfers.totals)
            #expect(try await suite.number("SELECT count(*) FROM parked_events", of: "analytics") == 0)
            for subject in transfers.subjects.prefix(3) { try await Self.checkSummary(of: subject, transfers, suite) }
        }

        private static func handled(_ suite: RunningSuite) async throws -> Int {
            try await suite.number("SELECT count(*) FROM inbox WHERE outcome = 'handled'", of: "analytics")
        }

        private static func awaitHandled(_ count: Int, _ suite: RunningSuite) async throws {
            try await eventually("\(count) handled events", within: .seconds(60), every: .milliseconds(50)) {
                try await self.handled(suite) >= count
            }
        }

        /// What the user sees over HTTP.
        private static func checkSummary(
            of subject: String,
            _ transfers: MadeUpTransfers,
            _ suite: RunningSuite
        )
            async throws
        {
            let path = "/analytics/summary?from=2026-11-20&to=2026-11-21"
            let shown = try await suite.call("GET", .analytics, path, as: subject).decode(AnalyticsSummary.self)
            let user = UserID(clerkSubject: subject).uuid
            let days = transfers.totals.filter { $0.key.user == user }.values
            #expect(days.count == 2)
            #expect(shown.inWallet == days.reduce(0) { $0 + $1.inWallet })
            #expect(shown.inBank == days.reduce(0) { $0 + $1.inBank })
            #expect(shown.moneyOut == days.reduce(0) { $0 + $1.moneyOut })
            #expect(shown.fees == days.reduce(0) { $0 + $1.fees })
        }

        @Test("an event of the last millisecond of a day, told again on the next and on the day after, counts once")
        func midnight() async throws {
            let suite = try RunningSuite.current
            let (ada, bola) = (UserID(clerkSubject: "user_midnight_a"), UserID(clerkSubject: "user_midnight_b"))
            let milliseconds = Int64(Date().timeIntervalSince1970 * 1000)
            let sinceMidnight = Duration.milliseconds(milliseconds % 86_400_000 + 1)
            let yesterday = UUIDv7Source(clock: AdjustableClock(offset: .zero - sinceMidnight))
            let late = try Self.event(from: ada, to: bola, id: yesterday.next())
            try await suite.publish([late])
            try await Self.awaitHandled(late, suite)

            for day in 1...2 {
                let clock = #"{"offset_seconds":\#(day * 86_400)}"#
                #expect(try await suite.operate("PUT", "analytics", "/internal/ops/clock", clock).status == 200)
                let next = try Self.event(from: bola, to: ada, id: UUIDv7Source().next())
                // The same id with another transfer in it: only the inbox can tell.
                let again = try Self.event(from: ada, to: bola, id: late.id)
                try await suite.publish([again, next, again])
                try await Self.awaitHandled(next, suite)
            }
            let reset = #"{"offset_seconds":0}"#
            #expect(try await suite.operate("PUT", "analytics", "/internal/ops/clock", reset).status == 200)
            #expect(try await Self.out(ada, suite) == 500)
            #expect(try await Self.out(bola, suite) == 1000)
        }

        @Test("an event that traps in its handler is parked after five deaths, with what follows it, and others go on")
        func trap() async throws {
            let suite = try RunningSuite.current
            let (ada, bola) = (UserID(clerkSubject: "user_trap_a"), UserID(clerkSubject: "user_trap_b"))
            let (ids, subject) = (UUIDv7Source(), UUID())
            let bad = try Self.event(from: ada, to: bola, about: subject, id: ids.next())
            let after = try Self.event(from: ada, to: bola, about: subject, sequence: 2, id: ids.next())
            let others = try (0..<20).map { _ in try Self.event(from: bola, to: ada, id: ids.next()) }
            await (try suite.process("analytics")).terminate()
            // A stack trace of each death would take ten seconds.
            let orders = ["TRANSFA_CRASH_AT": "handling@\(bad.id.lowercased)", "SWIFT_BACKTRACE": "enable=no"]
            try await suite.publish(Array(others[..<10]) + [bad, after] + Array(others[10...]))

            var deaths = 0
            var process = try await suite.start("analytics", extra: orders, awaitReady: false)
            while try await !Self.isParked(bad, suite, or: process) {
                let end = await process.exit()
                #expect([.signal(SIGILL), .signal(SIGTRAP)].contains(end))
                deaths += 1
                try #require(deaths <= 5)
                process = try await suite.start("analytics", extra: orders, awaitReady: false)
            }
            #expect(deaths == 5)
            for other in others { try await Self.awaitHandled(other, suite) }
            #expect(try await Self.out(bola, suite) == 20 * 500)
            #expect(try await Self.out(ada, suite) == 0)
            let reasons = try await suite.rows("analytics", "SELECT reason FROM parked_events ORDER BY position")
            #expect(reasons == ["crashed", "behind_parked_event"])
            #expect(try await suite.number("SELECT count(*) FROM lone_runs", of: "analytics") == 0)
            #expect(process.isRunning)

            // A better version handles it.
            await process.terminate()
            try await suite.start("analytics")
            let order = #"{"subject":"\#(subject.lowercased)","reason":"a better version"}"#
            #expect(try await suite.operate("POST", "analytics", "/internal/ops/parked/retry", order).status == 200)
            #expect(try await Self.out(ada, suite) == 2 * 500)
            #expect(try await suite.number("SELECT count(*) FROM parked_keys", of: "analytics") == 0)
        }

        /// False when the process has ended before.
        private static func isParked(
            _ event: StrayEvent,
            _ suite: RunningSuite,
            or process: any SuiteProcess
        ) async throws
            -> Bool
        {
            let sql = "SELECT count(*) FROM parked_events WHERE id = '\(event.id)'"
            return try await eventually("a death or a parked event", within: .seconds(30), every: .milliseconds(50)) {
                if try await suite.number(sql, of: "analytics") == 1 { return true }
                return process.isRunning ? nil : false
            }
        }

        /// A payment of 500 kobo.
        private static func event(
            from sender: UserID,
            to recipient: UserID,
            about transfer: UUID = UUID(),
            sequence: Int64 = 1,
            id: UUID
        ) throws -> StrayEvent {
            let data = TransactionCompleted(
                transactionID: UUID(),
                senderID: sender.uuid,
                recipientID: recipient.uuid,
                amount: 500,
                type: Open(.p2p),
                route: Open(.internal),
                fee: 0,
                duty: 0,
                timestamp: Timestamp.text(Date())
            )
            return try StrayEvent(data, about: transfer, sequence: sequence, id: id)
        }

        private static func awaitHandled(_ event: StrayEvent, _ suite: RunningSuite) async throws {
            let sql = "SELECT count(*) FROM inbox WHERE id = '\(event.id)' AND outcome = 'handled'"
            try await eventually("an event to be handled", within: .seconds(30), every: .milliseconds(50)) {
                try await suite.number(sql, of: "analytics") == 1
            }
        }

        private static func out(_ user: UserID, _ suite: RunningSuite) async throws -> Int {
            let sql = "SELECT coalesce(sum(money_out), 0) FROM day_totals WHERE user_id = '\(user.uuid)'"
            return try await suite.number(sql, of: "analytics")
        }
    }
}
