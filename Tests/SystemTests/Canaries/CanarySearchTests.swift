import Foundation
import Primitives
import TestSupport
import Testing

extension Tools {
    /// That a canary is found, whatever was made of it.
    @Suite struct CanarySearchTests {
        private let name = Canary(name: "name", text: "Kanariqwertz")
        private let pin = Canary(name: "PIN", text: "048213", isShort: true)

        private func found(_ text: String, _ canary: Canary) async throws -> Bool {
            let file = "\(Scratch.directory)/canary-\(Scratch.shortName())"
            try Data(text.utf8).write(to: URL(fileURLWithPath: file))
            defer { try? FileManager.default.removeItem(atPath: file) }
            let findings = try await CanarySearch([canary]).findings(in: [file])
            #expect(findings.allSatisfy { $0.canary == canary.name })
            return !findings.isEmpty
        }

        @Test(
            "in base64 at any place, in hex, in escapes, in other letters and as a hash",
            arguments: ["", "a", "ab", "abc"]
        )
        func forms(before: String) async throws {
            let bytes = Array("\(before)\(self.name.text)!".utf8)
            let base64 = Data(bytes).base64EncodedString()
            for text in [
                String(decoding: bytes, as: UTF8.self), base64, Base64URL.encode(bytes), Hex.encode(bytes),
                Hex.encode(bytes).uppercased(), "KANARIQWERTZ", Data("xKANARIQWERTZ".utf8).base64EncodedString(),
                #"{"a":"{\"b\":\"\\u004b\\u0061\\u006e\\u0061\\u0072\\u0069\\u0071\\u0077\\u0065\\u0072\\u0074\\u007a\"}"}"#,
                "a line\n\(base64)\nanother",
            ] {
                #expect(try await self.found(text, self.name), "\(text)")
            }
            #expect(
                try await !self.found("Kanarienvogel " + Data("Kanarienvogel".utf8).base64EncodedString(), self.name)
            )
        }

        @Test("a PIN where it stands alone, and not inside of an id, a time or a longer number")
        func short() async throws {
            for text in ["048213", #"{"pin":"048213"}"#, "pin=048213&a", Data("048213".utf8).base64EncodedString()] {
                #expect(try await self.found(text, self.pin), "\(text)")
            }
            #expect(try await self.found(Hex.encode(Array("pin 048213".utf8)), self.pin))
            for text in ["1048213", "0482131", "10:00:00.048213+00", "01932f5e-0000-7000-8000-a048213f0000"] {
                #expect(try await !self.found(text, self.pin), "\(text)")
            }
        }

        @Test("the passwords of database roles are not in the server's log, even if it logs all statements")
        func rolePasswords() async throws {
            let servers = try TestServers.shared()
            let name = "canary_\(Scratch.shortName())"
            let password = Canary(name: "password", text: "kanari\(Scratch.shortName())\(Scratch.shortName())")
            let roles = ["owner", "handler", "worker"]
            var environment = ["PGOPTIONS": "-c log_statement=all -c log_min_duration_statement=0"]
            for role in roles { environment["TRANSFA_\(role.uppercased())_PASSWORD"] = password.text }
            let variables = ["database=\(name)"] + roles.map { "\($0)=\(name)_\($0)" }
            let psql = [try servers.postgresURL, "-Xq", "-v", "ON_ERROR_STOP=1"]
            // Once more: the roles are there already.
            for _ in 0..<2 {
                let script = ["-f", Repository.path("deploy/postgres/roles.sql")]
                try await Command.run(
                    "psql",
                    psql + variables.flatMap { ["-v", $0] } + script,
                    environment: environment
                )
            }
            let dropped = roles.map { "\(name)_\($0)" }.joined(separator: ", ")
            try await Command.run("psql", psql + ["-c", "DROP DATABASE \(name)", "-c", "DROP ROLE \(dropped)"])

            let logs = ["\(servers.directory)/logs"]
            #expect(try await CanarySearch([password]).findings(in: logs) == [])
            let made = Canary(name: "statement", text: "CREATE DATABASE \(name)", isGuessable: false)
            #expect(try await !CanarySearch([made]).findings(in: logs).isEmpty)
        }
    }
}
