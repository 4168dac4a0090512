import Foundation
import Logging
import Primitives
import Testing

@testable import ServiceKit

private let complete = plainVariables.merging(
    [
        "DATABASE_URL": "postgres://a:b@h/d", "WORKER_DATABASE_URL": "postgres://a:b@h/d",
        "RABBITMQ_URL": "amqp://a:b@h/v", "REDIS_URL": "redis://h:1/0", "CLERK_JWKS_URL": "https://c.test/jwks",
        "CLERK_ISSUER": "https://c.test", "AUTH_INTERNAL_URL": "http://auth:9000/",
        "DATA_KEYS_TOKEN": "a-token-for-data-keys", "EXPORTS_TOKEN": "a-token-for-exports",
    ]
) { $1 }

private func settings(_ variables: [String: String]) throws -> ServiceSettings {
    try ServiceSettings(service: "test", needs: .all, reader: SettingsReader(variables))
}

@Suite("settings")
struct SettingsTests {
    @Test("a complete environment is read, with its defaults")
    func good() throws {
        let settings = try settings(complete)
        #expect(settings.profile == .production)
        #expect(settings.logLevel == .info)
        #expect(settings.shutdownGrace == .seconds(20))
        #expect(settings.http.deadline == .seconds(10))
        #expect(settings.http.bodyLimit == 65536)
        #expect(settings.internalServer.host == "127.0.0.1")
        #expect(settings.auth.url == "http://auth:9000")
        #expect(settings.auth.token == plainVariables["INTERNAL_TOKEN"])
        #expect(settings.dataKeys.token == "a-token-for-data-keys" && settings.dataKeys.url == settings.auth.url)
        #expect(settings.internalServer.metricsTokens == nil)
        #expect(settings.broker.managementURL == nil && settings.broker.topologyURL == nil)
    }

    @Test(
        "each variable that must be set is named when it is not",
        arguments: complete.keys.sorted().filter { $0 != "HOST" }
    )
    func missing(name: String) {
        let problem = #expect(throws: ConfigurationProblem.self) { try settings(complete.filter { $0.key != name }) }
        #expect(problem == ConfigurationProblem(variable: name, reason: "not set"))
    }

    @Test("an empty variable counts as not set")
    func empty() {
        let problem = #expect(throws: ConfigurationProblem.self) { try settings(complete.merging(["PORT": ""]) { $1 }) }
        #expect(problem?.variable == "PORT")
    }

    @Test(
        "a malformed variable is named, and its value is not repeated",
        arguments: [
            ("PORT", "s3cret"), ("PORT", "65536"), ("PORT", "-1"), ("INTERNAL_TOKEN", "s3cret"),
            ("DATABASE_URL", "mysql://s3cret"), ("RABBITMQ_URL", "s3cret"), ("REDIS_URL", "http://s3cret"),
            ("CLERK_REQUIRE_AZP", "s3cret"), ("LOG_LEVEL", "s3cret"), ("TRANSFA_PROFILE", "s3cret"),
            ("SHUTDOWN_GRACE_SECONDS", "0"), ("REQUEST_DEADLINE_SECONDS", "1.5"), ("RATE_LIMIT_MONEY", "s3cret"),
            ("TRUSTED_PROXIES", "s3cret"),
        ]
    )
    func malformed(name: String, value: String) {
        let problem = #expect(throws: ConfigurationProblem.self) {
            try settings(complete.merging([name: value]) { $1 })
        }
        #expect(problem?.variable == name)
        #expect(problem?.description.contains("s3cret") == false)
    }

    @Test("while a token is being replaced the first one is sent and all are taken")
    func replacedToken() throws {
        let two = "one-token-of-a-test, other-token-of-a-test"
        let settings = try settings(complete.merging(["INTERNAL_TOKEN": two]) { $1 })
        let tokens = settings.internalServer.tokens
        #expect(tokens.current == "one-token-of-a-test" && settings.auth.token == tokens.current)
        for token in tokens.all { #expect(tokens.contains(token)) }
        for token in ["", two, "one-token-of-a-tesT", "one-token-of-a-test,other-token-of-a-test"] {
            #expect(!tokens.contains(token))
        }
        var dumped = ""
        dump(tokens, to: &dumped)
        #expect(!dumped.contains("token-of-a-test") && !"\(tokens)".contains("token-of-a-test"))
    }

    @Test(
        "a list of secrets with a mistake stops the start with its name, and shows none of them",
        arguments: [
            ("s3cret-long-enough-1,", "number 2 must have 16 characters or more"),
            (",s3cret-long-enough-1", "number 1 must have 16 characters or more"),
            ("s3cret-long-enough-1,s3cret", "number 2 must have 16 characters or more"),
            ("s3cret-long-enough-1, s3cret-long-enough-1", "has the same secret twice"),
        ]
    )
    func secrets(text: String, reason: String) {
        let problem = #expect(throws: ConfigurationProblem.self) {
            try settings(complete.merging(["INTERNAL_TOKEN": text]) { $1 })
        }
        #expect(problem == ConfigurationProblem(variable: "INTERNAL_TOKEN", reason: reason))
    }

    @Test("parties must be named when they are required")
    func parties() {
        let variables = complete.merging(["CLERK_REQUIRE_AZP": "true"]) { $1 }
        let problem = #expect(throws: ConfigurationProblem.self) { try settings(variables) }
        #expect(problem?.variable == "CLERK_AUTHORIZED_PARTIES")
    }

    @Test("every common setting is documented")
    func documentation() {
        for key in ServiceSettings.keys(for: .all) {
            #expect(!key.purpose.isEmpty)
            #expect(key.documentation.hasPrefix(key.name))
        }
        #expect(Set(ServiceSettings.keys(for: .all).map(\.name)).count == ServiceSettings.keys(for: .all).count)
    }

    @Test(
        "a token that opens one thing cannot be one that opens nearly all",
        arguments: ["DATA_KEYS_TOKEN", "METRICS_TOKEN", "EXPORTS_TOKEN"]
    )
    func narrowToken(name: String) throws {
        let wide = plainVariables["INTERNAL_TOKEN"] ?? ""
        for (text, reason) in [
            (wide, "must not be an INTERNAL_TOKEN"), ("another-token-here,\(wide)", "must not be an INTERNAL_TOKEN"),
            ("short", "must have 16 characters or more"),
        ] {
            let problem = #expect(throws: ConfigurationProblem.self) {
                try settings(complete.merging([name: text]) { $1 })
            }
            #expect(problem == ConfigurationProblem(variable: name, reason: reason))
        }
    }

    @Test("no token that opens one thing opens another one: Prometheus reads no data keys")
    func narrowTokens() throws {
        let token = complete["DATA_KEYS_TOKEN"] ?? ""
        let variables = complete.merging(["METRICS_TOKEN": "another-for-metrics,\(token)"]) { $1 }
        let metrics = #expect(throws: ConfigurationProblem.self) { try settings(variables) }
        #expect(metrics == ConfigurationProblem(variable: "METRICS_TOKEN", reason: "must not be a DATA_KEYS_TOKEN"))
        // As auth reads it, which gives them out.
        let keys = #expect(throws: ConfigurationProblem.self) {
            try SettingsReader(variables).narrowSecrets(.dataKeysToken)
        }
        #expect(keys == ConfigurationProblem(variable: "DATA_KEYS_TOKEN", reason: "must not be a METRICS_TOKEN"))
        let exports = #expect(throws: ConfigurationProblem.self) {
            try settings(complete.merging(["EXPORTS_TOKEN": token]) { $1 })
        }
        #expect(exports?.reason.hasPrefix("must not be a") == true)
    }

    @Test("a service is asked only for what it uses")
    func needs() throws {
        let variables = complete.filter { $0.key != "REDIS_URL" && $0.key != "AUTH_INTERNAL_URL" }
        let needs: ServiceSettings.Needs = [.database, .broker, .clerk]
        _ = try ServiceSettings(service: "test", needs: needs, reader: SettingsReader(variables))
        let names = ServiceSettings.keys(for: needs).map(\.name)
        #expect(!names.contains("AUTH_INTERNAL_URL"))
        // Whoever sets policies decides where messages go.
        let management = ["RABBITMQ_MANAGEMENT_URL": "http://a:b@h"]
        let reader = SettingsReader(variables.merging(management) { $1 })
        let settings = try ServiceSettings(service: "test", needs: needs, reader: reader)
        #expect(settings.broker.managementURL == nil && !names.contains("RABBITMQ_MANAGEMENT_URL"))
    }

    @Test("a service with Redis counts requests there, unless it wants to count alone")
    func counts() throws {
        let settings = { (needs: ServiceSettings.Needs) in
            try ServiceSettings(service: "test", needs: needs, reader: SettingsReader(complete))
        }
        let together = try settings([.redis, .clerk])
        #expect(together.has(.redis) && together.countsTogether && together.redisURL == "redis://h:1/0")
        let alone = try settings([.redis, .clerk, .ownCounts])
        #expect(alone.has(.redis) && !alone.countsTogether && alone.redisURL == "redis://h:1/0")
        let without = try settings([.database, .clerk])
        #expect(!without.has(.redis) && !without.countsTogether)
        for needs: ServiceSettings.Needs in [.redis, [.redis, .ownCounts]] {
            let key = try #require(ServiceSettings.keys(for: needs).first { $0.name == "REDIS_URL" })
            #expect(key.documentation.contains("required"))
        }
        #expect(!ServiceSettings.keys(for: [.database, .clerk]).map(\.name).contains("REDIS_URL"))
    }

    @Test("whoever counts alone asks Redis for no count, whoever counts together does")
    func countedAlone() async throws {
        // Nobody listens there, so that a question is seen by its failure.
        let variables = complete.merging(["REDIS_URL": "redis://127.0.0.1:1/0"]) { $1 }
        let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        for (needs, failures) in [([.redis], 1), ([.redis, .ownCounts], 0)] as [(ServiceSettings.Needs, Int)] {
            let metrics = PrometheusRegistry()
            let settings = try ServiceSettings(service: "test", needs: needs, reader: SettingsReader(variables))
            let host = try ServiceHost(settings: settings, logger: quiet, metrics: metrics)
            _ = try await host.limiter.count([RateKey(.user, user: UserID(UUID()))])
            await host.close()
            let text = metrics.text()
            #expect(text.contains("rate_limit_counted_alone_total \(failures)"))
            #expect(text.contains(#"redis_errors_total{kind="unavailable"} \#(failures)"#))
        }
    }

    @Test("a configuration problem ends with 78, an unknown argument with 64, the version with 0")
    func statuses() async {
        let definition = ServiceDefinition(name: "test", needs: .all) { ServiceParts(router: $0.router()) }
        let empty = SettingsReader([:])
        #expect(await ServiceMain.status(definition, arguments: [], reader: empty) == 78)
        #expect(await ServiceMain.status(definition, arguments: ["--migrate-only"], reader: empty) == 78)
        #expect(await ServiceMain.status(definition, arguments: ["--what"], reader: empty) == 64)
        #expect(await ServiceMain.status(definition, arguments: ["--version"], reader: empty) == 0)
        #expect(await ServiceMain.status(definition, arguments: ["--settings"], reader: empty) == 0)
    }

    @Test("a problem that the composition root finds ends with 78 too")
    func problemOfService() async {
        let definition = ServiceDefinition(name: "test", needs: []) { _ in
            throw ConfigurationProblem(variable: "MASTER_KEYS", reason: "not set")
        }
        let reader = SettingsReader(plainVariables)
        #expect(await ServiceMain.status(definition, arguments: [], reader: reader) == 78)
    }

    @Test("roles of migrations are those that the URLs log in as")
    func roles() {
        #expect(ServiceMain.role(of: "postgres://a%5Fb:p%40w@h:1,h:2/d") == "a_b")
        #expect(ServiceMain.role(of: "postgres://h/d") == nil)
        #expect(ServiceMain.role(of: nil) == nil)
    }
}
