import Logging
import Redis
import TestSupport
import Testing

@testable import ServiceKit

@Suite("The settings of Redis")
struct RedisSettingsTests {
    private func settings(_ variables: [String: String]) throws -> RedisSettings {
        try RedisSettings(SettingsReader(variables))
    }

    @Test("prefix and files reach the client")
    func all() throws {
        let settings = try self.settings([
            "REDIS_URL": "rediss+sentinel://:p@a,b/main/2", "REDIS_PREFIX": "transfa:", "REDIS_CA_FILE": "/ca.pem",
            "REDIS_CERTIFICATE_FILE": "/c.pem", "REDIS_KEY_FILE": "/k.pem",
        ])
        let configuration = settings.configuration
        #expect(configuration.prefix == "transfa:")
        #expect(configuration.tlsFiles == .init(authorities: "/ca.pem", certificate: "/c.pem", key: "/k.pem"))
        #expect(configuration.usesTLS && configuration.database == 2)
    }

    @Test(
        "what cannot be used stops the start, by the name of the setting",
        arguments: [
            (["REDIS_URL": "http://h"], "REDIS_URL"), (["REDIS_URL": "redis://h/x"], "REDIS_URL"),
            (["REDIS_URL": "rediss://h", "REDIS_CERTIFICATE_FILE": "/c"], "REDIS_KEY_FILE"),
            (["REDIS_URL": "rediss://h", "REDIS_KEY_FILE": "/k"], "REDIS_CERTIFICATE_FILE"),
            (["REDIS_URL": "redis://h", "REDIS_CA_FILE": "/ca"], "REDIS_CA_FILE"),
            (["REDIS_URL": "rediss://h", "REDIS_CA_FILE": "/nowhere"], "REDIS_CA_FILE"),
        ]
    )
    func refused(variables: [String: String], setting: String) {
        #expect {
            _ = try self.settings(variables).client(Logger(label: "test"), PrometheusRegistry())
        } throws: { ($0 as? ConfigurationProblem)?.variable == setting }
        #expect(throws: ConfigurationProblem.self) { try RedisSettings(SettingsReader([:])) }
    }

    @Test("what fails is counted by its kind")
    func counted() async throws {
        let metrics = PrometheusRegistry()
        let settings = try self.settings(["REDIS_URL": "redis://127.0.0.1:1"])
        let client = try settings.client(Logger(label: "test"), metrics)
        await #expect(throws: RedisError.self) { try await client.send(RedisCommand("PING")) }
        #expect(metrics.text().contains(#"redis_errors_total{kind="unavailable"} 1"#))
    }
}
