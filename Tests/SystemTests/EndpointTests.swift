import Contracts
import Foundation
import Sealing
import TestSupport
import Testing

extension Probes {
    /// What every endpoint of every service does with bad input; the endpoints are those of the `openapi.yaml` files.
    @Suite struct EndpointTests {
        private struct Routes: Decodable {
            let `public`: [String]
            let `internal`: [String]
            /// The parameters of the query, by route.
            let parameters: [String: [String]]
        }

        private static func endpoints() throws -> [Endpoint] {
            try SuiteEnvironment.names.flatMap { try Endpoint.all(of: $0) }
        }

        @Test(
            "each route of a service is in its openapi.yaml, and the other way round",
            arguments: SuiteEnvironment.names
        )
        func described(service: String) async throws {
            let suite = try RunningSuite.current
            let routes = try await suite.operate("GET", service, "/internal/ops/routes").decode(Routes.self)
            let described = try Endpoint.all(of: service)
            #expect(Set(described.filter { !$0.isOnInternalPort }.map(\.name)) == Set(routes.public))
            #expect(Set(described.filter(\.isOnInternalPort).map(\.name)) == Set(routes.internal))
            #expect(Set(described.map(\.name)).count == described.count)
            let taken = described.filter { !$0.queryNames.isEmpty }.map { ($0.name, $0.queryNames.sorted()) }
            #expect(Dictionary(uniqueKeysWithValues: taken) == routes.parameters)
            for endpoint in described where endpoint.isOnInternalPort {
                let isHealth = endpoint.path.hasPrefix("/health/")
                let isGuarded = [.internal, .dataKeys, .exports].contains(endpoint.access)
                #expect(isHealth ? endpoint.access == .open : isGuarded, "\(endpoint)")
            }
            for endpoint in described where endpoint.body != nil {
                #expect(!endpoint.examples.isEmpty, "\(endpoint) has no example of its body")
            }
        }

        @Test("ids are written in lower case, in answers, in events and in stored answers")
        func lowerCase() async throws {
            let suite = try RunningSuite.current
            let person = try await suite.person("lowercase")
            try await suite.addBankAccount(of: person)
            let upper = "[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}"
            for endpoint in try Self.endpoints() where endpoint.access == .session && endpoint.method == "GET" {
                guard let service = ServiceName(rawValue: endpoint.service), !endpoint.path.contains("{"),
                    !endpoint.isStream
                else { continue }
                let answer = try await suite.call("GET", service, endpoint.goodPath, as: person.subject)
                #expect(answer.status == 200, "\(endpoint)")
                #expect(answer.text.range(of: upper, options: .regularExpression) == nil, "\(endpoint) \(answer.text)")
            }
            for service in SuiteEnvironment.names {
                let sql = "SELECT count(*) FROM outbox WHERE data ~ '\(upper)' OR subject ~ '\(upper)'"
                #expect(try await suite.number(sql, of: service) == 0, "\(service)")
                let stored = "SELECT count(*) FROM idempotency_keys WHERE body ~ '\(upper)'"
                #expect(try await suite.number(stored, of: service) == 0, "\(service)")
            }
        }

        @Test("a body that breaks a rule is refused with the place, by every endpoint, and leaves no trace")
        func bodies() async throws {
            let suite = try RunningSuite.current
            let prober = try await Prober(suite)
            let probes = try Self.endpoints().filter { $0.access != .open }.flatMap { endpoint in
                endpoint.badBodies(more: (Self.more[endpoint.name] ?? []) + endpoint.badTexts).map { bad in
                    var probe = Probe(endpoint, status: bad.status)
                    probe.body = bad.bytes
                    probe.headers = bad.contentType == "application/json" ? [] : [("Content-Type", bad.contentType)]
                    probe.source = bad.pointer
                    return probe
                }
            }
            #expect(probes.count > 1000)
            let changes = try await suite.changes { try await prober.send(probes) }
            #expect(changes == [])
        }

        /// Rules that a schema cannot say.
        private static let more: [String: [(pointer: String, json: String)]] = [
            "POST /onboarding": [
                ("/username", #""Support""#), ("/kyc_details/full_name", #""Adaeze""#), ("/kyc_details", "null"),
                ("/kyc_details/date_of_birth", #""2990-01-01""#), ("/kyc_details/date_of_birth", #""2020-01-01""#),
                ("/kyb_details", "null"), ("/kyb_details/date_of_registration", #""2990-01-01""#),
            ],
            "PUT /onboarding/details": [
                ("/kyc_details/full_name", #""Adaeze""#), ("/kyc_details/date_of_birth", #""1890-01-01""#),
            ],
            "POST /internal/suspense/{id}/releases": [
                ("/beneficiary_id", #""5f6b9d0e-8f7c-5b39-9a5d-6a1f2f3c4d5e""#)
            ],
            "POST /subscriptions": [("/plan", #""free""#)],
            "POST /internal/subscriptions/increment-usage": [("/delta", "0")],
            "POST /internal/replays": [("/selection", "{}"), ("/selection", #"{"types":["user.created"]}"#)],
            "POST /internal/replay-plans": [
                ("/selection", "{}"), ("/selection/types", "[]"),
            ],
            "POST /internal/subscriptions/activate": [
                ("/until", #""2020-01-01T00:00:00Z""#), ("/plan", #""free""#),
            ],
        ]

        @Test("a path, query or header parameter that breaks a rule is refused, by every endpoint, and leaves no trace")
        func parameters() async throws {
            let suite = try RunningSuite.current
            let prober = try await Prober(suite)
            let probes = try Self.endpoints().flatMap { endpoint in
                endpoint.parameters.flatMap { parameter -> [Probe] in
                    switch (parameter.place, parameter.name) {
                    case ("path", _): Self.badPaths(endpoint, parameter)
                    case ("query", _): Self.badQueries(endpoint, parameter)
                    case ("header", "Idempotency-Key"): Self.badKeys(endpoint, parameter)
                    default: []
                    }
                }
            }
            #expect(probes.count > 100)
            let changes = try await suite.changes { try await prober.send(probes) }
            #expect(changes == [])
        }

        private static func badPaths(_ endpoint: Endpoint, _ parameter: Endpoint.Parameter) -> [Probe] {
            let values = [
                "x", "0", "%00", "%25", "%F0%9F%92%B8", "..%2F..%2Fwallet", "01932f5e-0000-7000-8000-00000000000g",
                "01932f5e000070008000000000000001", "%7B01932f5e-0000-7000-8000-000000000001%7D",
                "01932f5e-0000-7000-8000-000000000001%00", String(repeating: "a", count: 4000),
            ]
            // What is no UTF-8 is not even a path.
            return (values + ["%FF%FE"]).map { value in
                var probe = Probe(endpoint, status: 404)
                probe.path = endpoint.path(with: [parameter.name: value])
                probe.body = endpoint.examples.first.map { Array($0.json.utf8) }
                probe.namesSource = value != "%FF%FE"
                probe.source = probe.namesSource ? parameter.name : nil
                return probe
            }
        }

        private static func badQueries(_ endpoint: Endpoint, _ parameter: Endpoint.Parameter) -> [Probe] {
            var values = parameter.schema.badTexts
            if parameter.schema.types.contains("integer") {
                values = ["", "-1", "0", "1.5", "1e1", "x", "9223372036854775808", "1001", "1 ", "\u{661}"]
            } else if parameter.name == "cursor" {
                values = ["", "!", "AAAA", "a=", "\u{0}", String(repeating: "A", count: 3000), "MQ"]
            }
            let allowed = CharacterSet.alphanumerics.intersection(CharacterSet(charactersIn: "\u{0}"..."\u{7f}"))
            var queries = values.map {
                "\(parameter.name)=" + ($0.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")
            }
            queries += ["\(parameter.name)=%00", "\(parameter.name)=%FF", "\(parameter.name)=%ZZ"]
            let good = "\(parameter.name)=\(parameter.example ?? "")"
            queries.append("\(good)&\(good)")
            if parameter.isRequired { queries.append("") }
            var refused = queries.map { (query: $0, source: parameter.name) }
            // A slip in the name.
            refused.append((query: "\(parameter.name)x=1", source: "\(parameter.name)x"))
            return refused.map { query, source in
                var probe = Probe(endpoint, status: 400)
                probe.path = endpoint.path() + "?" + query
                probe.source = source
                return probe
            }
        }

        private static func badKeys(_ endpoint: Endpoint, _ parameter: Endpoint.Parameter) -> [Probe] {
            let odd = ["", "a b", "\"", "\"a\\b\"", "é", String(repeating: "k", count: 256)]
            let values = odd + (parameter.isRequired ? [Prober.absent] : [])
            return (values.map { [$0] } + [["one", "two"]]).map { keys in
                var probe = Probe(endpoint, status: 400)
                probe.body = endpoint.examples.first.map { Array($0.json.utf8) }
                probe.headers = keys.map { ("Idempotency-Key", $0) }
                probe.source = "Idempotency-Key"
                return probe
            }
        }

        @Test(
            "an id of nothing, a path that does not exist and a method that it does not have are answered 404 and 405"
        )
        func unknown() async throws {
            let suite = try RunningSuite.current
            let prober = try await Prober(suite)
            let all = try Self.endpoints()
            let probes =
                all.flatMap { Self.otherMethods($0, among: all) }
                + SuiteEnvironment.names.flatMap { name in
                    all.filter { $0.service == name }.prefix(1).flatMap { Self.unknownPaths($0) }
                } + all.compactMap { Self.unknownThing($0) }
            let changes = try await suite.changes { try await prober.send(probes) }
            #expect(changes == [])
        }

        private static func otherMethods(_ endpoint: Endpoint, among all: [Endpoint]) -> [Probe] {
            let same = all.filter {
                $0.service == endpoint.service && $0.isOnInternalPort == endpoint.isOnInternalPort
                    && $0.path == endpoint.path
            }
            let methods = Set(same.map(\.method))
            let allowed = methods.contains("GET") ? methods.union(["HEAD"]) : methods
            return ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].filter { !allowed.contains($0) }.map { method in
                var probe = Probe(endpoint, status: 405)
                probe.method = method
                probe.allow = allowed
                probe.namesSource = false
                return probe
            }
        }

        private static func unknownThing(_ endpoint: Endpoint) -> Probe? {
            guard endpoint.access == .session, endpoint.path.contains("{") else { return nil }
            var probe = Probe(endpoint, status: 404)
            probe.body = endpoint.examples.first.map { Array($0.json.utf8) }
            // With a key the answer would be kept, as any answer of the business is; where one is needed, it is not.
            let needsKey = endpoint.parameters.contains { $0.name == "Idempotency-Key" && $0.isRequired }
            probe.headers = needsKey ? [] : [("Idempotency-Key", Prober.absent)]
            probe.namesSource = false
            return probe
        }

        private static func unknownPaths(_ endpoint: Endpoint) -> [Probe] {
            ["/", "/nothing", "/%00", "//x", "/" + String(repeating: "a/", count: 2000), "/internal", "/../etc/passwd"]
                .map { path in
                    var probe = Probe(endpoint, status: 404)
                    probe.path = path
                    probe.namesSource = false
                    return probe
                }
        }
    }
}
