import Testing

@testable import Redis

@Suite("Redis configuration")
struct ConfigurationTests {
    @Test("a URL names host, port, database, user and password")
    func parts() throws {
        let full = try RedisConfiguration(url: "redis://app:p%40ss@cache.internal:6380/7")
        #expect(full.host == "cache.internal")
        #expect(full.port == 6380)
        #expect(full.database == 7)
        #expect(full.username == "app")
        #expect(full.password == "p@ss")
        let short = try RedisConfiguration(url: "redis://localhost")
        #expect(short.port == 6379)
        #expect(short.database == 0)
        #expect(short.username == nil && short.password == nil)
        #expect(try RedisConfiguration(url: "redis://:secret@h:1/").password == "secret")
        #expect(try RedisConfiguration(url: "redis://[::1]:6379/0").host == "::1")
    }

    @Test("rediss is refused with a sentence that says why")
    func noTLS() {
        let error = #expect(throws: RedisError.self) { try RedisConfiguration(url: "rediss://:secret@host:6379/0") }
        #expect(error?.code == .misconfigured)
        #expect(error?.message.contains("no TLS") == true)
    }

    @Test(
        "a URL that cannot be used is refused and not quoted",
        arguments: [
            "", "host:6379", "http://hunter2", "redis://", "redis://:hunter2@/0", "redis://:hunter2@h:0",
            "redis://:hunter2@h:70000", "redis://h/hunter2", "redis://h/-1", "redis://h/0?x=hunter2",
            "redis://hunter2@h",
        ]
    )
    func refused(_ url: String) {
        let error = #expect(throws: RedisError.self) { try RedisConfiguration(url: url) }
        #expect(error?.code == .misconfigured)
        #expect(error.map { "\($0)".contains("hunter2") } == false)
    }

    @Test("no text form shows the password")
    func redacted() throws {
        let configuration = try RedisConfiguration(url: "redis://app:hunter2@h:1/2")
        var dumped = ""
        dump(configuration, to: &dumped)
        for text in ["\(configuration)", String(reflecting: configuration), dumped] {
            #expect(!text.contains("hunter2"))
        }
    }
}
