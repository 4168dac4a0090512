import DevSuite
import Foundation
import NIOHTTP1
import Primitives
import TestSupport

/// An operator's session on the page, as the browser has it.
struct PageSession: Sendable {
    let cookie: String
    let guardWord: String

    /// What the page sends with everything.
    var headers: [String: String] { ["Cookie": self.cookie, "Transfa-Guard": self.guardWord] }
}

extension RunningSuite {
    private struct Opened: Decodable {
        let `guard`: String
    }

    /// Signs in to the page.
    func signIn(_ name: String = "ada") async throws -> PageSession {
        guard let token = self.environment.operatorTokens[name] else { throw TestFailure("no operator \(name)") }
        let reply = try await self.send(
            "POST",
            self.environment.publicURL("console") + "/console/api/session",
            body: Array(#"{"token":"\#(token)"}"#.utf8)
        )
        guard let cookie = reply.header("Set-Cookie")?.split(separator: ";").first else {
            throw TestFailure("signing in was answered \(reply.status) \(reply.text)")
        }
        return PageSession(cookie: String(cookie), guardWord: try reply.decode(Opened.self).guard)
    }

    /// What stories in the browser are about: a payment that has ended, with its events in the archive.
    func pageWorld() async throws -> [String: String] {
        let ada = try await self.person("onpage", funding: 20_000)
        let bola = try await self.person("onpage")
        let payment = try await self.pay(from: ada, to: bola, 1500)
        try await self.await(payment, "completed", within: .seconds(40))
        let ids = "SELECT id FROM archived_events WHERE subject = '\(payment.lowercased)' ORDER BY position"
        let events = try await eventually("the payment in the archive", within: .seconds(30)) { () -> [String]? in
            let found = try await self.rows("console", ids)
            return found.count >= 2 ? found : nil
        }
        // The one with most that is sealed is the one that made her.
        let created = "SELECT id FROM archived_events WHERE subject = '\(ada.id.lowercased)' AND type = 'user.created'"
        let sealed = try await self.rows("console", created).first
        let started = "SELECT correlation_id FROM archived_events WHERE id = '\(events[0])'"
        return [
            "payment": payment.lowercased, "event": sealed ?? events[0], "user": ada.id.lowercased,
            "correlation": try await self.rows("console", started).first ?? "",
        ]
    }

    /// Runs a story of `Tests/Python/console_page.py`.
    func browse(_ world: [String: String], _ story: String) async throws {
        var values: [String: Any] = world
        values["url"] = world["url"] ?? self.environment.publicURL("console")
        values["tokens"] = self.environment.operatorTokens
        let file = "\(Scratch.directory)/page-\(Scratch.shortName()).json"
        try JSONSerialization.data(withJSONObject: values).write(to: URL(fileURLWithPath: file))
        defer { try? FileManager.default.removeItem(atPath: file) }
        try await Command.run(
            try TestPython.path(),
            [TestPython.program("console_page.py"), file, story],
            environment: ProcessInfo.processInfo.environment.filter {
                $0.key.hasPrefix("TRANSFA_TEST_") || $0.key == "PATH"
            },
            within: .seconds(600)
        )
    }

    /// Runs a story of the same program with the gateway as its one address.
    func browseByGateway(_ world: [String: String], _ story: String) async throws {
        let part = try self.environment.gateway()
        let launch = part.launch()
        let gateway = try ChildProcess(launch.program, launch.arguments, environment: launch.environment, log: part.log)
        defer { Task.detached { await gateway.terminate(within: .seconds(5)) } }
        try await eventually("the gateway", within: .seconds(20)) { await part.readiness.holds }
        try await self.browse(
            world.merging(["url": self.environment.publicURL(SuiteGround.gateway)]) { $1 },
            story
        )
    }

    /// A job that has failed and that no worker takes.
    func failedJob(on service: String) async throws -> String {
        let job = UUID().lowercased
        try await self.rows(
            service,
            """
            INSERT INTO jobs (id, kind, key, state, due_at, created_at, last_error)
            VALUES ('\(job)', 'never_run', '\(job)', 'failed', now(), now(), 'gave_up')
            """
        )
        return job
    }

    /// Parks two events that the service can handle, as if its handler had been mended since; gives their subject.
    func parkTwo(on service: String) async throws -> String {
        let person = try await self.person("behind")
        let subject = person.id.lowercased
        let sql = "SELECT body FROM archived_events WHERE subject = '\(subject)' ORDER BY position LIMIT 2"
        let bodies = try await eventually("two events about her", within: .seconds(30)) { () -> [String]? in
            let found = try await self.rows("console", sql)
            return found.count == 2 ? found : nil
        }
        let rows = bodies.enumerated().map { index, body in
            let text = body.replacingOccurrences(of: "'", with: "''")
            let reason = index == 0 ? "handler_failed" : "behind_parked_event"
            return
                "('\(subject)', ('\(text)'::json->>'id')::uuid, '\(text)'::json->>'type', '\(text)', '\(reason)', 1, now())"
        }
        try await self.rows(
            service,
            """
            INSERT INTO parked_keys (subject, reason, parked_at) VALUES ('\(subject)', 'handler_failed', now());
            INSERT INTO parked_events (subject, id, type, body, reason, attempts, parked_at)
            VALUES \(rows.joined(separator: ", "))
            """
        )
        return subject
    }
}
