import Foundation
import Primitives
import TestSupport
import Testing

extension Journeys {
    /// What operators do, over HTTP and the command line.
    @Suite struct AuditTests {
        @Test("an operator's act needs a name and a reason, stands in the audit, and a change of the record shows")
        func acts() async throws {
            let suite = try RunningSuite.current
            let person = try await suite.person("audited")
            let job = UUID().lowercased
            let enqueue = """
                INSERT INTO jobs (id, kind, key, state, due_at, created_at)
                VALUES ('\(job)', 'never_run', '\(job)', 'failed', now(), now())
                """
            try await suite.rows("account", enqueue)
            let path = "/internal/ops/jobs/\(job)/cancel"
            let unreasoned = try await suite.operate("POST", "account", path, #"{"reason":"  "}"#)
            #expect(unreasoned.status == 400 && unreasoned.error?.source?.pointer == "/reason")
            let nameless = try await suite.send(
                "POST",
                suite.environment.internalURL("account") + path,
                headers: ["Authorization": "Bearer \(suite.environment.internalToken)"],
                body: Array(#"{"reason":"given up"}"#.utf8)
            )
            #expect(nameless.status == 400 && nameless.error?.source?.header == "Transfa-Operator")
            #expect(try await suite.operate("POST", "account", path, #"{"reason":"given up"}"#).status == 204)

            let freeze = #"{"restriction":"frozen","reason":"a_test"}"#
            let restriction = "/internal/users/\(person.id.lowercased)/restriction"
            #expect(try await suite.operate("PUT", "customer", restriction, freeze).status == 204)

            let listed = try await suite.tool(["audit", "list", "account", "--subject", job])
            #expect(listed.contains("grace job.cancelled \(job)") && listed.contains("because: given up"))
            let frozen = try await suite.tool(["audit", "list", "customer", "--subject", person.id.lowercased])
            #expect(frozen.contains(#"{"restriction":"none"} -> {"restriction":"frozen"}"#))

            let verified = try await suite.tool(["audit", "verify"])
            #expect(verified.contains("All 8 checks hold"))
            let head = try #require(verified.firstMatch(of: #/account:[0-9]+:[0-9a-f]{64}/#)).output
            _ = try await suite.tool(["audit", "verify", "account", "--known", String(head)])
            // Nobody would look at it.
            let ignored = try await suite.toolFails(["audit", "verify", "auth", "--known", String(head)])
            #expect(ignored.contains("--known is about account"))
            try await Self.tamper(with: String(head), on: suite)
        }

        /// Whoever owns the database writes the chain anew: only who kept its end can tell.
        private static func tamper(with head: String, on suite: RunningSuite) async throws {
            let off = "ALTER TABLE audit_log DISABLE TRIGGER audit_log_append_only"
            let on = "ALTER TABLE audit_log ENABLE TRIGGER audit_log_append_only"
            let last = "number = (SELECT max(number) FROM audit_log)"
            let forged = "UPDATE audit_log SET reason = 'another' WHERE \(last)"
            try await suite.rows("account", "\(off); \(forged); \(on)")
            #expect(
                try await suite.toolFails(["audit", "verify", "account"]).contains("I26 an act is what its hash says")
            )
            let rehash = """
                UPDATE audit_log a SET hash = audit_hash(a) WHERE \(last);
                UPDATE audit_head h SET hash = (SELECT a.hash FROM audit_log a WHERE a.number = h.number)
                """
            try await suite.rows("account", "\(off); \(rehash); \(on)")
            _ = try await suite.tool(["audit", "verify", "account"])
            let rewritten = try await suite.toolFails(["audit", "verify", "account", "--known", head])
            #expect(rewritten.contains("of account is the one that was"))
        }
    }
}

extension RunningSuite {
    /// What `transfactl` prints.
    func tool(_ words: [String]) async throws -> String {
        try await Command.run(try Repository.product("transfactl"), words, environment: self.environment.tool)
    }

    /// What `transfactl` prints when it fails, as it must.
    func toolFails(_ words: [String]) async throws -> String {
        do {
            let output = try await self.tool(words)
            throw ToolDidNotFail(output: output)
        } catch let failure as TestFailure {
            return "\(failure)"
        }
    }

    private struct ToolDidNotFail: Error {
        let output: String
    }
}
