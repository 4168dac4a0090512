import Contracts
import Foundation
import Primitives
import Sealing
import TestSupport
import Testing

extension Probes {
    @Suite struct TokenTests {
        private static let members: [(name: String, members: String)] = [
            ("expired", #","age_seconds":300"#),
            ("from the future", #","age_seconds":-300"#),
            ("not valid yet", #","not_before_seconds":600"#),
            ("of a foreign key", #","key":"foreign""#),
            ("of an unknown key", #","kid":"ins_nobody""#),
            ("with a broken signature", #","signature":"broken""#),
            ("without algorithm", #","alg":"none""#),
            ("signed with the public key", #","alg":"HS256""#),
            ("of another algorithm", #","alg":"RS512""#),
            ("of another issuer", #","issuer":"https://clerk.example.com""#),
            ("of a longer issuer", #","issuer":"\#(SuiteEnvironment.issuer)/""#),
            ("without session", #","sid":null"#),
            ("without subject", #","claims":{"sub":null}"#),
            ("with an empty subject", #","claims":{"sub":""}"#),
            ("with a number as subject", #","claims":{"sub":5}"#),
            ("with NUL in the subject", #","claims":{"sub":"user\u0000x"}"#),
            ("without end", #","claims":{"exp":null}"#),
            ("with a text as end", #","claims":{"exp":"9999999999"}"#),
            ("without issuer", #","claims":{"iss":null}"#),
            ("of a session that is not complete", #","claims":{"sts":"pending"}"#),
            ("with a list of origins", #","claims":{"azp":["\#(SuiteEnvironment.authorizedParty)"]}"#),
        ]

        @Test("a token that is expired, forged, foreign or for somebody else is refused with 401 by every endpoint")
        func sessions() async throws {
            let suite = try RunningSuite.current
            let prober = try await Prober(suite)
            let bad = try await Self.badTokens(of: prober.person.subject, suite)
            let endpoints = try SuiteEnvironment.names.flatMap { try Endpoint.all(of: $0) }
                .filter { $0.access == .session }
            #expect(endpoints.count > 15)
            let probes = endpoints.flatMap { Self.probes($0, bad) }
            let changes = try await suite.changes { try await prober.send(probes) }
            #expect(changes == [])
        }

        @Test("the internal port refuses everybody without the internal token, a user with a session too")
        func `internal`() async throws {
            let suite = try RunningSuite.current
            let prober = try await Prober(suite)
            let token = suite.environment.internalToken
            let session = try await suite.token(of: prober.person.subject)
            let bad = [
                Prober.absent, "", "Bearer", "Bearer ", "Bearer x", "Bearer \(session)", "Bearer \(token)x",
                "Bearer \(token.dropLast())", "Bearer \(token.uppercased())", "Basic \(token)", token,
            ]
            let endpoints = try SuiteEnvironment.names.flatMap { try Endpoint.all(of: $0) }
                .filter { $0.access == .internal }
            #expect(endpoints.count > 100)
            let probes = endpoints.flatMap { Self.probes($0, bad) }
            let changes = try await suite.changes { try await prober.send(probes) }
            #expect(changes == [])
        }

        @Test("data keys and exports are for their own tokens, and neither they nor that of metrics open anything else")
        func narrow() async throws {
            let suite = try RunningSuite.current
            let prober = try await Prober(suite)
            let environment = suite.environment
            let (keys, metrics, exports) = (
                environment.dataKeysToken, environment.metricsToken, environment.exportsToken
            )
            let all = try SuiteEnvironment.names.flatMap { try Endpoint.all(of: $0) }
            let sealed = all.filter { $0.access == .dataKeys }
            #expect(sealed.map(\.name) == ["GET /internal/keys/{user_id}"])
            let held = all.filter { $0.access == .exports }
            #expect(held.map(\.name) == SuiteEnvironment.names.map { _ in "GET /internal/users/{user_id}/export" })
            let others = all.filter { $0.access == .internal }
            let wide = ["Bearer \(environment.internalToken)", "Bearer \(metrics)", ""]
            let probes =
                sealed.flatMap { Self.probes($0, wide + ["Bearer \(exports)"]) }
                + held.flatMap { Self.probes($0, wide + ["Bearer \(keys)"]) }
                + others.flatMap { Self.probes($0, ["Bearer \(keys)", "Bearer \(exports)"]) }
                + others.filter { $0.path != "/metrics" }.flatMap { Self.probes($0, ["Bearer \(metrics)"]) }
            let changes = try await suite.changes { try await prober.send(probes) }
            #expect(changes == [])
            for name in SuiteEnvironment.names {
                let url = environment.internalURL(name) + "/metrics"
                let reply = try await suite.send("GET", url, headers: ["Authorization": "Bearer \(metrics)"])
                #expect(reply.status == 200, "\(name)")
            }
            let given = SuiteEnvironment.names.filter { environment.variables(of: $0)["DATA_KEYS_TOKEN"] != nil }
            #expect(given == ["auth", "customer", "account", "transaction", "notification", "analytics"])
        }

        /// Good requests, but for the header `Authorization`.
        private static func probes(_ endpoint: Endpoint, _ values: [String]) -> [Probe] {
            values.map { value in
                var probe = Probe(endpoint, status: 401)
                probe.body = endpoint.examples.first.map { Array($0.json.utf8) }
                probe.headers = [("Authorization", value)]
                probe.source = "Authorization"
                return probe
            }
        }

        private static func badTokens(of subject: String, _ suite: RunningSuite) async throws -> [String] {
            let good = try await suite.token(of: subject)
            var tokens = ["abc", "..", "a.b.c", good + "x", good + ".x", Self.altered(good), Self.unsigned(good)]
            tokens.append(String(repeating: "a", count: 9000))
            tokens.append(suite.environment.internalToken)
            for (_, members) in Self.members {
                tokens.append(try await suite.token(of: subject, more: members))
            }
            tokens.append(try await suite.token(of: subject, more: "", azp: "https://evil.example"))
            tokens.append(try await suite.token(of: subject, more: "", azp: SuiteEnvironment.authorizedParty + "."))
            return [Prober.absent, "", "Bearer", "Bearer ", "Basic \(good)", good] + tokens.map { "Bearer \($0)" }
        }

        /// Another user's claims under a good signature.
        private static func altered(_ token: String) -> String {
            let parts = token.split(separator: ".")
            let claims = String(decoding: Base64URL.decode(parts[1]) ?? [], as: UTF8.self)
            let other = claims.replacingOccurrences(of: "user_system_", with: "user_system_x")
            return "\(parts[0]).\(Base64URL.encode(Array(other.utf8))).\(parts[2])"
        }

        /// Good claims with a header that asks for no check.
        private static func unsigned(_ token: String) -> String {
            let parts = token.split(separator: ".")
            return Base64URL.encode(Array(#"{"alg":"none","typ":"JWT"}"#.utf8)) + ".\(parts[1])."
        }
    }
}
