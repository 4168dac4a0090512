import ContractGate
import Contracts
import Foundation
import Primitives
import TestSupport
import Testing

extension Journeys {
    /// The commands with which operators look and act, with all services running.
    @Suite struct OperatorToolTests {
        private static let acting = ["--operator", "grace", "--reason", "a_test"]

        @Test("health and outbox status say that all is well, and exit codes tell not ready from unreachable")
        func health() async throws {
            let suite = try RunningSuite.current
            let all = try await suite.run("health", "--json")
            #expect(all.exit == .code(0))
            #expect(try all.lines().filter { $0["kind"]?.text == "check" }.count == ServiceName.allCases.count + 1)
            let outbox = try await suite.run("outbox", "status", "--behind", "600")
            #expect(outbox.exit == .code(0) && outbox.text.contains("auth publishes in time"))
            let nobody = ["AUTH_INTERNAL_URL": "http://127.0.0.1:\(try freePort())"]
            #expect(try await suite.run("health", "auth", extra: nobody).exit == .code(2))
            #expect(try await suite.run("outbox", "status", "auth", extra: nobody).exit == .code(2))
            let missing = try await suite.run("health", "auth", extra: ["AUTH_INTERNAL_URL": ""])
            #expect(missing.exit == .code(2) && missing.text.contains("AUTH_INTERNAL_URL is missing"))
            let bad = try await suite.run("health", "auth", extra: ["AUTH_INTERNAL_URL": "nowhere"])
            #expect(bad.exit == .code(2) && bad.text.contains("AUTH_INTERNAL_URL is no address"))
            #expect(try await suite.run("health", "nobody").exit == .code(64))
        }

        @Test("a job can be listed, shown, released, retried and cancelled, each only in a state that allows it")
        func jobs() async throws {
            let suite = try RunningSuite.current
            let (waiting, failed) = (UUID().lowercased, UUID().lowercased)
            // Kinds that nobody runs, so that only operators change them.
            try await suite.rows(
                "account",
                """
                INSERT INTO jobs (id, kind, key, state, due_at, created_at) VALUES
                    ('\(waiting)', 'never_run', '\(waiting)', 'queued', now() + interval '1 day', now()),
                    ('\(failed)', 'never_run', '\(failed)', 'failed', now(), now())
                """
            )
            let listed = try await suite.run("jobs", "list", "account", "--state", "failed", "--json")
            #expect(listed.exit == .code(0))
            #expect(try listed.lines().contains { $0["job"]?["id"]?.text == failed })
            #expect(!listed.text.contains(waiting))

            func act(_ verb: String, _ id: String) async throws -> ToolRun {
                try await ToolRun(["jobs", verb, "account", id] + Self.acting, suite.environment.tool)
            }
            let refused = try await act("release", failed)
            #expect(refused.exit == .code(2) && refused.text.contains("is failed; it must be queued"))
            #expect(try await act("retry", waiting).exit == .code(2))
            #expect(try await act("release", waiting).exit == .code(0))
            #expect(try await act("retry", failed).exit == .code(0))
            #expect(try await act("cancel", waiting).exit == .code(0))
            #expect(try await act("cancel", failed).exit == .code(0))
            #expect(try await act("cancel", failed).exit == .code(2))
            #expect(try await act("cancel", UUID().lowercased).exit == .code(4))
            let shown = try await suite.run("jobs", "show", "account", failed, "--json")
            #expect(try shown.lines().first?["state"]?.text == "cancelled")
            #expect(try await suite.run("jobs", "show", "account", UUID().lowercased).exit == .code(4))
            #expect(try await suite.run("jobs", "show", "account", "nothing").exit == .code(64))
            #expect(try await suite.run("jobs", "cancel", "account", failed).exit == .code(64))
            let audit = try await suite.run("audit", "list", "account", "--subject", failed)
            #expect(audit.text.contains("grace job.retried") && audit.text.contains("grace job.cancelled"))
        }

        @Test("parked events are listed, shown, retried until one fails again, and discarded")
        func parked() async throws {
            let suite = try RunningSuite.current
            let subject = UUID()
            let ids = UUIDv7Source()
            let (bad, good) = (ids.next(), ids.next())
            try await suite.park(subject, [(bad, "{}"), (good, #"{"user_id":"\#(subject.lowercased)"}"#)])
            let listed = try await suite.run("parked", "list", "account")
            #expect(listed.exit == .code(0) && listed.text.contains("account \(subject.lowercased) a_test"))
            let shown = try await suite.run("parked", "show", "account", subject.lowercased, "--json")
            #expect(try shown.lines().map { $0["id"]?.text } == [bad.lowercased, good.lowercased])

            func act(_ verb: String, _ words: String...) async throws -> ToolRun {
                let place = ["parked", verb, "account", subject.lowercased]
                return try await ToolRun(place + words + Self.acting, suite.environment.tool)
            }
            let again = try await act("retry")
            #expect(again.exit == .code(1) && again.text.contains("failed_again, 0 applied"))
            #expect(try await act("discard", UUID().lowercased).exit == .code(4))
            #expect(try await act("discard", bad.lowercased).exit == .code(0))
            let applied = try await act("retry")
            #expect(applied.exit == .code(0) && applied.text.contains("applied, 1 applied"))
            #expect(try await act("retry").exit == .code(4))
            #expect(try await suite.run("parked", "show", "account", subject.lowercased).exit == .code(4))
        }

        @Test("a user is restricted and unrestricted by name, and closing asks for the id once more")
        func restricting() async throws {
            let suite = try RunningSuite.current
            let id = try await suite.person("restrained").id.lowercased
            func act(_ words: String...) async throws -> ToolRun {
                try await ToolRun(words + Self.acting, suite.environment.tool)
            }
            func restriction() async throws -> [String] {
                try await suite.rows("customer", "SELECT restriction FROM users WHERE id = '\(id)'")
            }
            #expect(try await act("restrict", id, "--to", "post_no_debit").exit == .code(0))
            #expect(try await restriction() == ["post_no_debit"])
            #expect(try await act("unrestrict", id).exit == .code(0))
            #expect(try await restriction() == ["none"])
            #expect(try await act("restrict", id, "--to", "closed").exit == .code(64))
            #expect(try await act("restrict", id, "--to", "everything").exit == .code(64))
            #expect(try await act("restrict", UUID().lowercased, "--to", "frozen").exit == .code(4))
            #expect(
                try await suite.run("suspense", "approve", UUID().lowercased, "--operator", "grace").exit == .code(4)
            )
            let words = ["restrict", id, "--to", "frozen", "--operator", "grace", "--reason", "Free words"]
            #expect(try await ToolRun(words, suite.environment.tool).exit == .code(64))
            #expect(try await restriction() == ["none"])
        }

        @Test("a session token opens a service, and the internal secret is a new one each time")
        func tokens() async throws {
            let suite = try RunningSuite.current
            let person = try await suite.person("tokenized")
            let made = try await suite.run("token", "session", person.subject, "--json")
            let token = try #require(try made.lines().first?["token"]?.text)
            let url = "\(suite.environment.publicURL("auth"))/onboarding/status"
            #expect(try await suite.send("GET", url, headers: ["Authorization": "Bearer \(token)"]).status == 200)
            let secrets = [
                try await ToolRun(["token", "internal"]).text, try await ToolRun(["token", "internal"]).text,
            ]
            #expect(Set(secrets).count == 2 && secrets.allSatisfy { $0.count == 44 })
            #expect(try await ToolRun(["token", "session", "user_x"]).exit == .code(2), "there is no sandbox")
        }
    }
}

extension Faults {
    @Suite struct BrokerDriftTests {
        @Test("the broker of a running suite is as it should be; what was given up by hand is shown and applied")
        func topology() async throws {
            let suite = try RunningSuite.current
            let broker = ["RABBITMQ_URL": suite.vhost.url, "RABBITMQ_MANAGEMENT_URL": suite.vhost.managementURL]
            let whole = try await ToolRun(["topology", "diff"], broker)
            #expect(whole.exit == .code(0) && whole.text == "")
            let path = "bindings/\(suite.vhost.name)/e/transfa.events/q/notification.p0"
            try await suite.vhost.management("POST", path, body: #"{"routing_key":"*.wallet.credited","arguments":{}}"#)
            let drifted = try await ToolRun(["topology", "diff", "--json"], broker)
            #expect(drifted.exit == .code(1))
            #expect(try drifted.lines().map { $0["kind"]?.text } == ["surplus"])
            #expect(try await ToolRun(["topology", "apply"], broker).exit == .code(0))
            #expect(try await ToolRun(["topology", "diff"], broker).exit == .code(0))
        }
    }
}

extension RunningSuite {
    /// Parks events `user.erased` of a subject in account, with these ids and data.
    fileprivate func park(_ subject: UUID, _ events: [(id: UUID, data: String)]) async throws {
        try await self.rows(
            "account",
            "INSERT INTO parked_keys (subject, reason, parked_at) VALUES ('\(subject.lowercased)', 'a_test', now())"
        )
        for (number, event) in events.enumerated() {
            let attributes = EventAttributes(
                id: event.id,
                source: "auth",
                type: UserErased.type,
                majorVersion: 1,
                subject: subject.lowercased,
                time: Timestamp.text(Date()),
                sequence: Int64(number + 1)
            )
            let body = String(decoding: try EventEnvelope.body(attributes, dataJSON: event.data), as: UTF8.self)
            try await self.rows(
                "account",
                """
                INSERT INTO parked_events (subject, id, type, body, reason, parked_at) VALUES ('\(subject.lowercased)',
                    '\(event.id.lowercased)', 'user.erased', '\(body)', 'a_test', now())
                """
            )
        }
    }
}
