import Testing

@testable import Redis

@Suite("Redis configuration")
struct ConfigurationTests {
    @Test("a URL names host, port, database, user and password")
    func parts() throws {
        let full = try RedisConfiguration(url: "redis://app:p%40ss@cache.internal:6380/7")
        #expect(full.discovery == .server(.init(host: "cache.internal", port: 6380)))
        #expect(full.database == 7 && full.username == "app" && full.password == "p@ss" && !full.usesTLS)
        let short = try RedisConfiguration(url: "redis://localhost")
        #expect(short.discovery == .server(.init(host: "localhost", port: 6379)))
        #expect(short.database == 0 && short.username == nil && short.password == nil)
        #expect(try RedisConfiguration(url: "redis://:secret@h:1/").password == "secret")
        #expect(try RedisConfiguration(url: "redis://:a@b@h:1").password == "a@b")
        let six = try RedisConfiguration(url: "REDISS://[::1]:6379/0")
        #expect(six.discovery == .server(.init(host: "::1", port: 6379)) && six.usesTLS)
        #expect("\(six)" == "rediss://[::1]:6379/0")
    }

    @Test("Sentinels are several, and name a master")
    func sentinels() throws {
        let url = "rediss+sentinel://app:secret@one:1,two,[::1]:3/my%20master/4"
        let configuration = try RedisConfiguration(url: url)
        let servers = [("one", 1), ("two", 26_379), ("::1", 3)].map {
            RedisConfiguration.Server(host: $0.0, port: UInt16($0.1))
        }
        #expect(configuration.discovery == .sentinels(servers, master: "my master"))
        #expect(configuration.usesTLS && configuration.database == 4 && configuration.password == "secret")
        #expect("\(configuration)" == "rediss+sentinel://one:1,two:26379,[::1]:3/my master/4")
    }

    @Test(
        "a URL that cannot be used is refused and not quoted",
        arguments: [
            "", "host:6379", "http://hunter2", "redis://", "redis://:hunter2@/0", "redis://:hunter2@h:0",
            "redis://:hunter2@h:70000", "redis://h/hunter2", "redis://h/-1", "redis://h/0?x=hunter2",
            "redis://hunter2@h", "redis://:hunter2%zz@h", "redis://a,b", "redis://h/1/hunter2", "redis://[::1]x",
            "redis+sentinel://h", "redis+sentinel://h/", "redis+sentinel://h,/hunter2", "redis+sentinel://h/m/hunter2",
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
