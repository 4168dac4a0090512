import Contracts
import Foundation
import Glibc
import Primitives
import TestSupport
import Testing

extension Faults {
    /// Services handle events again, on the command line, with all services running.
    @Suite struct ReplayTests {
        private struct Log: Decodable {
            let total: Int
        }

        @Test(
            "a dry run into transaction finds nothing that its own rules would do otherwise, and writes nothing there"
        )
        func dryRun() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("dryrun", funding: 20_000)
            let bola = try await suite.person("dryrunto")
            try await suite.await(try await suite.pay(from: ada, to: bola, 700), "completed", within: .seconds(40))
            let user = ["--service", "transaction", "--subject", ada.id.lowercased]
            try await suite.archived("wallet.credited", about: ada.id.lowercased)
            let plan = try await suite.replay(["plan"] + user)
            #expect(plan.contains("wallet.credited") && plan.contains("transaction does not hear it"))
            // The first dry run gives the tables their recorders; whatever runs meanwhile goes on.
            let changes = try await suite.changes {
                let output = try await suite.replay(["run", "--dry-run", "--json"] + user + RunningSuite.acting)
                #expect(output.contains(#""differing":0"#) && output.contains(#""failed":0"#), "\(output)")
                #expect(output.contains(#""state":"finished""#))
            }
            #expect(changes.filter { !$0.hasPrefix("console") } == [])
            #expect(try await suite.number("SELECT count(*) FROM row_changes") == 0)
            // With a state of which the events know nothing the handlers would do something.
            try await suite.rows("transaction", "UPDATE users SET username = 'changed' WHERE id = '\(ada.id)'")
            let found = try await suite.replayExit(["run", "--dry-run"] + user + RunningSuite.acting)
            #expect(found.exit == .code(3))
            #expect(found.output.contains("updated row users \(ada.id.lowercased)"))
            #expect(
                found.output.contains("- username: changed") && found.output.contains("+ username: \(ada.username)")
            )
            try await suite.rows("transaction", "UPDATE users SET username = '\(ada.username)' WHERE id = '\(ada.id)'")
        }

        @Test("a replay without effects asks nobody outside for anything, and what is known already changes nothing")
        func withoutEffects() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("replayed", funding: 400_000)
            #expect(try await suite.orderPlan(ada).status == 202)
            try await suite.awaitCharges(of: ada, 1)
            let type = "subscription.charge_requested"
            let sql = "SELECT id FROM outbox WHERE type = '\(type)' AND subject = '\(ada.id.lowercased)'"
            let event = try #require(try await suite.rows("subscription", sql).first)
            try await suite.archived(type, about: ada.id.lowercased)
            let run = ["run", "--service", "transaction", "--id", event, "--effects", "off", "--json"]
            let known = try await suite.replay(run + RunningSuite.acting)
            #expect(known.contains(#""applied":0"#) && known.contains(#""known":1"#), "\(known)")

            // As if it had never been heard.
            let forgotten = "DELETE FROM inbox WHERE id = '\(event)' RETURNING handled_at"
            let moment = try #require(try await suite.rows("transaction", forgotten).first)
            let job = "kind = 'charge_subscription' AND subject = '\(ada.id.lowercased)'"
            #expect(try await suite.rows("transaction", "DELETE FROM jobs WHERE \(job) RETURNING state") == ["done"])
            let calls = try await suite.number("SELECT count(*) FROM provider_calls")
            let before = try await suite.sandbox("GET", "/sandbox/log?type=transfer_accepted&limit=1").decode(Log.self)
            let lost = try await suite.replay(run + RunningSuite.acting)
            #expect(lost.contains(#""applied":1"#), "\(lost)")
            let asked = try await suite.rows("transaction", "SELECT state, last_error FROM jobs WHERE \(job)")
            #expect(asked == ["skipped|replayed_without_effects"])
            let after = try await suite.sandbox("GET", "/sandbox/log?type=transfer_accepted&limit=1").decode(Log.self)
            #expect(after.total == before.total)
            #expect(try await suite.number("SELECT count(*) FROM provider_calls") == calls)
            #expect(try await suite.brokenInvariants() == [])
            // Other tests look whether events were handled in their order.
            try await suite.rows("transaction", "UPDATE inbox SET handled_at = '\(moment)' WHERE id = '\(event)'")
        }

        @Test("what cannot be replayed ends with a code of its own")
        func codes() async throws {
            let suite = try RunningSuite.current
            let nobody = ["--service", "analytics", "--subject", UUID().lowercased]
            #expect(try await suite.replayExit(["plan"] + nobody).exit == .code(4))
            #expect(try await suite.replayExit(["run"] + nobody + RunningSuite.acting).exit == .code(4))
            #expect(try await suite.replayExit(["show", UUID().lowercased]).exit == .code(4))
            #expect(
                try await suite.replayExit(["run", "--service", "analytics"] + RunningSuite.acting).exit == .code(64)
            )
            let console = ["run", "--service", "console", "--from", "2026-01-01T00:00:00Z"]
            #expect(try await suite.replayExit(console + RunningSuite.acting).exit == .code(2))
            #expect(try await suite.replay(["list", "--limit", "1"]).split(separator: "\n").count == 1)
        }
    }
}

extension ServiceFaults {
    /// Console and a service as processes that are killed under a replay.
    @Suite(.serialized, .runningSuite(.only(["console", "analytics"])))
    struct ReplayProcessTests {
        @Test(
            "a service that has lost everything gets it back by a replay, killed itself and with console killed: exactly"
        )
        func killed() async throws {
            let suite = try RunningSuite.current
            let transfers = try MadeUpTransfers(count: 3000)
            try await suite.publish(transfers.events)
            try await Self.awaitHandled(transfers.distinct, suite)
            try await eventually("everything in the archive", within: .seconds(60), every: .milliseconds(100)) {
                try await suite.number(Self.archived, of: "console") == transfers.distinct
            }
            try await suite.rows("analytics", "TRUNCATE facts, movements, day_totals, day_categories, inbox")

            let order = [
                "run", "--detach", "--json", "--service", "analytics", "--from", "2026-01-01T00:00:00Z", "--rate",
                "900",
            ]
            let begun = try await suite.replay(
                order + ["--type", "transaction.completed", "--type", "transaction.reversed"] + RunningSuite.acting
            )
            let replay = try JSONDecoder().decode(Begun.self, from: Data(begun.utf8)).id
            try await Self.awaitHandled(500, suite)
            #expect(await (try suite.process("analytics")).kill() == .signal(SIGKILL))
            try await suite.start("analytics")
            try await Self.awaitHandled(1000, suite)
            #expect(await (try suite.process("console")).kill() == .signal(SIGKILL))
            #expect(try await suite.number(Self.running, of: "console") == 1)
            let lease = "UPDATE jobs SET lease_until = transfa_now() - interval '1 second' WHERE state = 'running'"
            try await suite.rows("console", lease)
            try await suite.start("console")
            try await Self.awaitHandled(1600, suite)
            #expect(await (try suite.process("analytics")).kill() == .signal(SIGKILL))
            try await suite.start("analytics")

            #expect(try await suite.replayExit(["show", replay, "--follow"]).exit == .code(0))
            #expect(try await Self.handled(suite) == transfers.distinct)
            #expect(try await suite.shownTotals() == transfers.totals)
            // Each act is a part of the commit in which its events took effect.
            let applied = "SELECT sum((after::json ->> 'events')::int) FROM audit_log WHERE act = 'replay.applied'"
            #expect(try await suite.number(applied, of: "analytics") == transfers.distinct)
            let done = "SELECT done = planned AND applied + known = planned FROM replays"
            #expect(try await suite.rows("console", done) == ["t"])
        }

        private struct Begun: Decodable {
            let id: String
        }

        private static let archived = "SELECT count(*) FROM archived_events WHERE type LIKE 'transaction.%'"
        private static let running = "SELECT count(*) FROM replays WHERE state = 'running' AND done < planned"

        private static func handled(_ suite: RunningSuite) async throws -> Int {
            try await suite.number("SELECT count(*) FROM inbox WHERE outcome = 'handled'", of: "analytics")
        }

        private static func awaitHandled(_ count: Int, _ suite: RunningSuite) async throws {
            try await eventually("\(count) handled events", within: .seconds(60), every: .milliseconds(50)) {
                try await self.handled(suite) >= count
            }
        }
    }
}

extension RunningSuite {
    static let acting = ["--operator", "grace", "--reason", "a test"]

    /// What a command about replays prints.
    func replay(_ arguments: [String]) async throws -> String {
        let tool = try Repository.product("transfactl")
        return try await Command.run(tool, ["replay"] + arguments, environment: self.environment.tool)
    }

    /// How such a command ends, and what it prints.
    func replayExit(_ arguments: [String]) async throws -> (exit: ChildExit, output: String) {
        let tool = try Repository.product("transfactl")
        let child = try ChildProcess(tool, ["replay"] + arguments, environment: self.environment.tool)
        let exit = await child.exit()
        return (exit, child.log)
    }

    /// Waits until the archive has an event.
    fileprivate func archived(_ type: String, about subject: String) async throws {
        let sql = "SELECT count(*) FROM archived_events WHERE type = '\(type)' AND subject = '\(subject)'"
        try await eventually("\(type) in the archive", within: .seconds(30), every: .milliseconds(100)) {
            try await self.number(sql, of: "console") > 0
        }
    }
}
