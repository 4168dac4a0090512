import ContractGate
import Contracts
import Foundation
import TestSupport
import Testing

extension Tools {
    /// What `transfactl` does about a release; no service runs.
    @Suite("Releases on the command line")
    struct ReleaseToolTests {
        private static func file(_ text: Data, _ name: String = "json") throws -> String {
            let path = "\(Scratch.directory)/release-\(Scratch.shortName()).\(name)"
            try text.write(to: URL(fileURLWithPath: path))
            return path
        }

        /// The document of this build with another type of an amount.
        private static func broken() throws -> JSONNode {
            var document = try EventDocument.ofThisBuild()
            for index in document.kinds.indices where document.kinds[index].type == "transaction.completed" {
                guard case .object(let fields) = document.kinds[index].data else { throw TestFailure("no object") }
                document.kinds[index].data = .object(
                    fields.map { $0.name == "amount" ? FieldShape("amount", .text(format: nil)) : $0 }
                )
            }
            return document.asyncAPI
        }

        @Test(
            "contracts check names the break and whom it stops, passes what is accepted, and complains about stale entries"
        )
        func contracts() async throws {
            let document = try await ToolRun(["contracts", "document"])
            #expect(
                document.text == String(decoding: try EventDocument.ofThisBuild().asyncAPI.document(), as: UTF8.self)
            )
            let before = try Self.file(Data(document.text.utf8))
            let after = try Self.file(try Self.broken().document())
            let check = ["contracts", "check", "--against", before]
            let same = try await ToolRun(check)
            #expect(same.exit == .code(0) && same.text == "0 changes, 0 of them break somebody.\n")
            let broken = try await ToolRun(check + ["--candidate", after])
            #expect(broken.exit == .code(1))
            #expect(
                broken.text.contains(
                    "BREAKS field_retyped: transaction.completed /data/amount is a text and was a number"
                )
            )
            #expect(broken.text.contains("Stops: analytics, customer, notification."))
            let lines = try await ToolRun(check + ["--candidate", after, "--json"]).lines()
            #expect(lines.map { $0["breaks"] } == [true, 1])

            let entry =
                #"{"change":"field_retyped","event":"transaction.completed","place":"/data/amount","why":"a test"}"#
            let accepted = ["--accepted", try Self.file(Data("[\(entry)]".utf8))]
            #expect(try await ToolRun(check + ["--candidate", after] + accepted).exit == .code(0))
            let stale = try await ToolRun(check + accepted)
            #expect(stale.exit == .code(1) && stale.text.contains("is no break: remove the entry"))
            let unreadable = try await ToolRun(check + ["--accepted", try Self.file(Data("{}".utf8))])
            #expect(unreadable.exit == .code(2))
        }

        @Test(
            "a git ref names the document that was committed there; what is neither file nor ref is refused in a sentence"
        )
        func reference() async throws {
            let folder = "\(Scratch.directory)/release-\(Scratch.shortName())"
            let path = "\(folder)/deploy/events"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            let document = try EventDocument.ofThisBuild().asyncAPI.document()
            try document.write(to: URL(fileURLWithPath: "\(path)/asyncapi.json"))
            let author = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.com"]
            try await Command.run("git", ["-C", folder, "init", "-q"])
            try await Command.run("git", ["-C", folder, "add", "."])
            try await Command.run("git", ["-C", folder] + author + ["commit", "-q", "-m", "Begin"])
            try await Command.run("git", ["-C", folder, "tag", "v1.0.0"])
            let check = ["contracts", "check", "--against"]
            #expect(try await ToolRun(check + ["v1.0.0"], in: folder).exit == .code(0))
            let after = try Self.file(try Self.broken().document())
            #expect(try await ToolRun(check + ["v1.0.0", "--candidate", after], in: folder).exit == .code(1))
            for (bad, sentence) in [
                ("v9.9.9", "is neither a file nor a git ref"), ("--output=x", "is neither a file nor a git ref"),
                (try Self.file(Data("{}".utf8)), "is no document of events"),
                (try Self.file(Data("nothing".utf8)), "is not JSON"),
            ] {
                let refused = try await ToolRun(["contracts", "check", "--against=\(bad)"], in: folder)
                #expect(refused.exit == .code(2) && refused.text.contains(sentence))
                #expect(refused.text.split(separator: "\n").count == 1)
            }
            #expect(try await ToolRun(["contracts", "check"], in: folder).exit == .code(64))
        }

        @Test("migrate says what a database lacks, applies it, and then finds nothing to do")
        func migrations() async throws {
            try await withTestDatabase("account") { database in
                let environment = [
                    "ACCOUNT_MIGRATION_DATABASE_URL": database.ownerURL, "ACCOUNT_DATABASE_URL": database.handlerURL,
                    "ACCOUNT_WORKER_DATABASE_URL": database.workerURL, "TRANSFA_PROFILE": "sandbox",
                ]
                let empty = try await ToolRun(["migrate", "status", "account", "--json"], environment)
                #expect(empty.exit == .code(1))
                let states = try empty.lines().compactMap { ($0["migration"] ?? $0["functions"])?["state"]?.text }
                #expect(states.count > 3 && Set(states) == ["missing"])
                let applied = try await ToolRun(["migrate", "apply", "account"], environment)
                #expect(applied.exit == .code(0) && applied.text.contains("account: \(states.count) applied"))
                let whole = try await ToolRun(["migrate", "plan", "account"], environment)
                #expect(whole.exit == .code(0) && whole.text == "account: \(states.count) applied, 0 not\n")
                let name = "UPDATE schema_migrations SET version = 9999 WHERE set_name = 'account' AND version = 1"
                try await database.psql(name)
                let strange = try await ToolRun(["migrate", "status", "account"], environment)
                #expect(strange.exit == .code(1))
                #expect(
                    strange.text.contains("account late account/1_") && strange.text.contains("unknown account/9999_")
                )
            }
            let missing = try await ToolRun(["migrate", "status", "auth"])
            #expect(missing.exit == .code(2) && missing.text.contains("AUTH_MIGRATION_DATABASE_URL is missing"))
        }

        @Test("topology apply declares everything on an empty broker, after which diff finds nothing")
        func topology() async throws {
            try await withTestVhost { vhost in
                let environment = ["RABBITMQ_URL": vhost.url, "RABBITMQ_MANAGEMENT_URL": vhost.managementURL]
                let plan = try await ToolRun(["topology", "plan", "--json"], environment)
                #expect(plan.exit == .code(0))
                let steps = try plan.lines().filter { $0["kind"]?.text == "step" }
                #expect(steps.count > 50)
                #expect(try await ToolRun(["topology", "diff"], environment).exit == .code(1))
                let applied = try await ToolRun(["topology", "apply"], environment)
                #expect(applied.exit == .code(0) && applied.text.hasSuffix("all is there\n"))
                let whole = try await ToolRun(["topology", "diff"], environment)
                #expect(whole.exit == .code(0) && whole.text == "")
                try await vhost.management("DELETE", "queues/\(vhost.name)/auth.p0")
                try await vhost.management(
                    "PUT",
                    "queues/\(vhost.name)/auth.p0",
                    body: #"{"durable":true,"arguments":{"x-queue-type":"classic"}}"#
                )
                let conflict = try await ToolRun(["topology", "apply"], environment)
                #expect(conflict.exit == .code(1) && conflict.text.contains("! the queue auth.p0 is classic"))
            }
            let nobody = ["RABBITMQ_URL": "amqp://x", "RABBITMQ_MANAGEMENT_URL": "http://127.0.0.1:\(try freePort())"]
            let unreachable = try await ToolRun(["topology", "diff"], nobody)
            #expect(unreachable.exit == .code(2) && unreachable.text.split(separator: "\n").count == 1)
            #expect(try await ToolRun(["topology", "diff"]).exit == .code(2))
        }

        @Test("every command has help, and completions for three shells name them")
        func help() async throws {
            let help = try await ToolRun(["--help"])
            #expect(help.exit == .code(0))
            for shell in ["bash", "zsh", "fish"] {
                let script = try await ToolRun(["--generate-completion-script", shell])
                #expect(script.exit == .code(0))
                for word in ["contracts", "parked", "topology", "unrestrict"] {
                    #expect(help.text.contains(word) && script.text.contains(word))
                }
            }
            #expect(try await ToolRun(["nothing"]).exit == .code(64))
        }
    }
}
