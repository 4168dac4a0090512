import Foundation

/// Where Redis is, who we are there, and how long to wait for it.
public struct RedisConfiguration: Sendable {
    /// A server by name or address.
    public struct Server: Sendable, Hashable {
        /// Name or address.
        public let host: String
        /// The port.
        public let port: UInt16
    }

    /// How the server of the keys is found.
    public enum Discovery: Sendable, Hashable {
        /// It is always there.
        case server(Server)
        /// Any of these Sentinels knows which one is the master of this name.
        case sentinels([Server], master: String)
    }

    /// The files of TLS, in PEM.
    public struct TLSFiles: Sendable, Hashable {
        /// One of them.
        public enum Part: String, Sendable {
            case authorities, certificate, key
        }

        /// Whom to trust; nil: the authorities of the system.
        public var authorities: String?
        /// Who we are, for a server that asks.
        public var certificate: String?
        /// The key of the certificate.
        public var key: String?

        /// Puts them together.
        public init(authorities: String? = nil, certificate: String? = nil, key: String? = nil) {
            self.authorities = authorities
            self.certificate = certificate
            self.key = key
        }
    }

    /// How the server is found.
    public let discovery: Discovery
    /// Whether it speaks TLS, and its Sentinels.
    public let usesTLS: Bool
    /// The number of the database, selected after every connect.
    public let database: Int
    /// The user for `AUTH`, nil for the default one.
    public let username: String?
    let password: String?

    /// The files of TLS.
    public var tlsFiles = TLSFiles()
    /// What all keys begin with.
    public var prefix = ""
    /// How long a command may take when its caller does not say.
    public var commandTimeout: Duration = .milliseconds(250)
    /// How long finding, connecting and authenticating may take.
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
    /// Told of every command that fails; from any thread.
    public var observe: @Sendable (RedisError) -> Void = { _ in }

    private static let schemes: [String: (usesTLS: Bool, asksSentinels: Bool)] = [
        "redis": (false, false), "rediss": (true, false),
        "redis+sentinel": (false, true), "rediss+sentinel": (true, true),
    ]

    /// Reads `redis://[[user]:password@]host[:port][/database]`, or
    /// `redis+sentinel://[[user]:password@]host[:port][,host[:port]...]/master[/database]`; with TLS `rediss`.
    ///
    /// - Throws: `RedisError` with `misconfigured`; the message never quotes the URL.
    public init(url: String) throws(RedisError) {
        guard let colon = url.range(of: "://"), let scheme = Self.schemes[url[..<colon.lowerBound].lowercased()] else {
            throw Self.wrong(
                "the Redis URL does not begin with redis://, rediss://, redis+sentinel:// or rediss+sentinel://"
            )
        }
        let rest = url[colon.upperBound...]
        guard !rest.contains(where: { $0 == "?" || $0 == "#" }) else {
            throw Self.wrong("the Redis URL may not have a query or a fragment")
        }
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        let authority = rest[..<slash]
        var path = rest[slash...].split(separator: "/").map(String.init)
        let at = authority.lastIndex(of: "@")
        let servers = try Self.servers(
            at.map { authority[authority.index(after: $0)...] } ?? authority,
            defaultPort: scheme.asksSentinels ? 26_379 : 6379
        )
        self.usesTLS = scheme.usesTLS
        if scheme.asksSentinels {
            guard let master = path.first?.removingPercentEncoding, !master.isEmpty else {
                throw Self.wrong("the Redis URL names no master, as in redis+sentinel://host:26379/mymaster")
            }
            path.removeFirst()
            self.discovery = .sentinels(servers, master: master)
        } else {
            guard servers.count == 1 else {
                throw Self.wrong("the Redis URL names several hosts, which Sentinels are alone")
            }
            self.discovery = .server(servers[0])
        }
        guard path.count <= 1, let database = path.isEmpty ? 0 : Int(path[0]), (0..<65_536).contains(database) else {
            throw Self.wrong("the database of the Redis URL is not a number")
        }
        self.database = database
        (self.username, self.password) = try Self.credentials(at.map { authority[..<$0] })
    }

    private static func servers(_ text: Substring, defaultPort: UInt16) throws(RedisError) -> [Server] {
        var servers: [Server] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            // The name of a socket in brackets is an address of IPv6, whose colons are no port's.
            let end = part.lastIndex(of: "]").map { part.index(after: $0) } ?? part.firstIndex(of: ":") ?? part.endIndex
            let host = part[..<end].trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
            guard !host.isEmpty else { throw Self.wrong("the Redis URL names no host") }
            let rest = part[end...]
            guard rest.isEmpty || rest.hasPrefix(":") else { throw Self.wrong("a host of the Redis URL is malformed") }
            guard let port = rest.isEmpty ? defaultPort : UInt16(rest.dropFirst()), port > 0 else {
                throw Self.wrong("the port of the Redis URL is not 1 to 65535")
            }
            servers.append(Server(host: host, port: port))
        }
        return servers
    }

    private static func credentials(_ text: Substring?) throws(RedisError) -> (String?, String?) {
        guard let text else { return (nil, nil) }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map {
            String($0).removingPercentEncoding
        }
        guard parts.allSatisfy({ $0 != nil }) else {
            throw Self.wrong("user or password of the Redis URL are malformed")
        }
        let user = parts[0].flatMap { $0.isEmpty ? nil : $0 }
        let password = parts.count > 1 ? parts[1].flatMap { $0.isEmpty ? nil : $0 } : nil
        guard user == nil || password != nil else {
            throw Self.wrong("the Redis URL has a user but no password; a password alone is written :password@")
        }
        return (user, password)
    }

    /// The command that says who we are, if that is to be said.
    var signIn: [RedisCommand] {
        guard let password = self.password else { return [] }
        return [RedisCommand("AUTH", [self.username, password].compactMap { $0.map(RedisArgument.text) })]
    }

    private static func wrong(_ message: String) -> RedisError { RedisError(.misconfigured, message) }
}

extension RedisConfiguration: CustomStringConvertible, CustomReflectable {
    /// Where it is and the database; no password.
    public var description: String {
        let scheme = self.usesTLS ? "rediss" : "redis"
        return switch self.discovery {
        case .server(let server): "\(scheme)://\(server)/\(self.database)"
        case .sentinels(let sentinels, let master):
            "\(scheme)+sentinel://\(sentinels.map(\.description).joined(separator: ","))/\(master)/\(self.database)"
        }
    }

    /// The same, so that `dump` shows no password.
    public var customMirror: Mirror { Mirror(self, children: ["url": self.description]) }
}

extension RedisConfiguration.Server: CustomStringConvertible {
    /// Host and port.
    public var description: String {
        self.host.contains(":") ? "[\(self.host)]:\(self.port)" : "\(self.host):\(self.port)"
    }
}
