import Foundation

/// Where Redis is and how long to wait for it.
public struct RedisConfiguration: Sendable {
    /// Name or address.
    public let host: String
    /// The port.
    public let port: UInt16
    /// The number of the database, selected after every connect.
    public let database: Int
    /// The user for `AUTH`, nil for the default one.
    public let username: String?
    let password: String?

    /// How long a command may take when its caller does not say.
    public var commandTimeout: Duration = .milliseconds(250)
    /// How long connecting, authentication included, may take.
    public var connectTimeout: Duration = .seconds(2)
    /// Commands that wait for a reply are present but none has come for so long: the connection is given up.
    public var stuckAfter: Duration = .seconds(1)
    /// How many commands may be in flight; more fail at once with `busy`.
    public var maximumInFlight = 4096
    /// How many bytes of commands may be in flight.
    public var maximumBytesInFlight = 64 << 20
    /// The pause before the first reconnect; it doubles with each failure, with jitter.
    public var firstBackoff: Duration = .milliseconds(50)
    /// The longest pause between reconnects.
    public var longestBackoff: Duration = .seconds(2)

    /// Reads `redis://[[user]:password@]host[:port][/database]`.
    ///
    /// - Throws: `RedisError` with `misconfigured`; the message never quotes the URL.
    public init(url: String) throws(RedisError) {
        let lowered = url.lowercased()
        guard !lowered.hasPrefix("rediss://") else {
            throw Self.wrong(
                "rediss:// is not supported: this build has no TLS for Redis, use redis:// on a private network"
            )
        }
        guard lowered.hasPrefix("redis://"), let parts = URLComponents(string: url) else {
            throw Self.wrong("the Redis URL is not of the form redis://[:password@]host:port/database")
        }
        guard let host = parts.host, !host.isEmpty else { throw Self.wrong("the Redis URL names no host") }
        guard parts.query == nil, parts.fragment == nil else {
            throw Self.wrong("the Redis URL may not have a query or a fragment")
        }
        guard let port = UInt16(exactly: parts.port ?? 6379), port > 0 else {
            throw Self.wrong("the port of the Redis URL is not 1 to 65535")
        }
        let path = parts.path.hasPrefix("/") ? String(parts.path.dropFirst()) : parts.path
        guard let database = path.isEmpty ? 0 : Int(path), (0..<65_536).contains(database) else {
            throw Self.wrong("the database of the Redis URL is not a number")
        }
        self.host = host.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        self.port = port
        self.database = database
        self.username = parts.user.flatMap { $0.isEmpty ? nil : $0 }
        self.password = parts.password.flatMap { $0.isEmpty ? nil : $0 }
        guard self.username == nil || self.password != nil else {
            throw Self.wrong("the Redis URL has a user but no password; a password alone is written :password@")
        }
    }

    private static func wrong(_ message: String) -> RedisError { RedisError(.misconfigured, message) }
}

extension RedisConfiguration: CustomStringConvertible, CustomReflectable {
    /// Host, port and database; no password.
    public var description: String { "redis://\(self.host):\(self.port)/\(self.database)" }
    /// The same, so that `dump` shows no password.
    public var customMirror: Mirror { Mirror(self, children: ["url": self.description]) }
}
