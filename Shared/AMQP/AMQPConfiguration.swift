/// Where the broker is and how patient we are with it.
public struct AMQPConfiguration: Sendable {
    /// One address of the broker.
    public struct Host: Sendable, Hashable {
        /// A name or an address.
        public var name: String
        /// The port.
        public var port: UInt16

        /// Makes an address.
        public init(name: String, port: UInt16) {
            self.name = name
            self.port = port
        }
    }

    /// What `amqps` needs.
    public struct TLS: Sendable, Hashable {
        /// A PEM file with the authorities that may sign the broker's certificate.
        public var authoritiesFile: String
        /// A PEM file with our own certificate, when the broker asks for one.
        public var certificateFile: String?
        /// The key of `certificateFile`.
        public var keyFile: String?

        /// Trusts the authorities of a PEM file.
        public init(authoritiesFile: String, certificateFile: String? = nil, keyFile: String? = nil) {
            self.authoritiesFile = authoritiesFile
            self.certificateFile = certificateFile
            self.keyFile = keyFile
        }
    }

    /// Tried in turn.
    public var hosts: [Host]
    /// The virtual host.
    public var virtualHost: String
    /// The user's name.
    public var user: String
    /// The user's password.
    var password: String
    /// Set when the scheme is `amqps`.
    ///
    /// The peer's chain and name are always verified, TLS is 1.2 or later.
    public var tls: TLS?
    /// What the broker's management shows for our connections; the role is appended.
    public var connectionName = "transfa"
    /// A heartbeat is sent after this much silence; a peer silent for twice as long is dead.
    ///
    /// Whole seconds.
    public var heartbeat: Duration = .seconds(10)
    /// How long opening a socket may take, per address.
    public var connectTimeout: Duration = .seconds(5)
    /// How long the handshake, and each later request to the broker, may take.
    public var requestTimeout: Duration = .seconds(10)
    /// How long one call into the library may take before the watchdog shuts its socket down.
    public var callLimit: Duration = .seconds(15)
    /// How long `publish` waits for room, a connection and the confirm.
    public var publishTimeout: Duration = .seconds(30)
    /// How many messages may wait in one publisher; what comes on top is refused.
    public var maximumWaiting = 65_536
    /// The first pause before connecting again; it doubles, with jitter.
    public var minimumBackoff: Duration = .milliseconds(100)
    /// The longest pause before connecting again.
    public var maximumBackoff: Duration = .seconds(10)

    /// Reads `amqp://user:password@host:5672,host2/vhost?heartbeat=10`.
    ///
    /// Scheme `amqps` turns TLS on. Parameters: `heartbeat` (seconds), `connection_timeout` (milliseconds),
    /// `cacertfile`, `certfile`, `keyfile`. User, password and virtual host are percent-encoded; without a path the
    /// virtual host is `/`.
    ///
    /// - Throws: `AMQPError` that names what is wrong, never the password.
    public init(url: String) throws(AMQPError) {
        let parts = try AMQPURL(url)
        self.hosts = parts.hosts
        self.virtualHost = parts.virtualHost
        self.user = parts.user
        self.password = parts.password
        if parts.isSecure { self.tls = TLS(authoritiesFile: Self.systemAuthorities) }
        for (name, value) in parts.parameters { try self.apply(parameter: name, value: value) }
    }

    /// Where Debian keeps the authorities that it trusts.
    private static let systemAuthorities = "/etc/ssl/certs/ca-certificates.crt"

    private mutating func apply(parameter name: String, value: String) throws(AMQPError) {
        switch name {
        case "heartbeat":
            guard let seconds = Int(value), (1...3_600).contains(seconds) else {
                throw AMQPError(.invalidConfiguration, "heartbeat must be 1 to 3600 seconds")
            }
            self.heartbeat = .seconds(seconds)
        case "connection_timeout":
            guard let milliseconds = Int(value), (1...600_000).contains(milliseconds) else {
                throw AMQPError(.invalidConfiguration, "connection_timeout must be 1 to 600000 milliseconds")
            }
            self.connectTimeout = .milliseconds(milliseconds)
        case "cacertfile": try self.requireTLS(for: name) { $0.authoritiesFile = value }
        case "certfile": try self.requireTLS(for: name) { $0.certificateFile = value }
        case "keyfile": try self.requireTLS(for: name) { $0.keyFile = value }
        default: throw AMQPError(.invalidConfiguration, "unknown parameter \(name) in the URL")
        }
    }

    private mutating func requireTLS(for name: String, _ change: (inout TLS) -> Void) throws(AMQPError) {
        guard var tls = self.tls else {
            throw AMQPError(.invalidConfiguration, "\(name) needs an amqps URL")
        }
        change(&tls)
        self.tls = tls
    }
}

extension AMQPConfiguration: CustomStringConvertible {
    /// The addresses and the virtual host; no user and no password.
    public var description: String {
        let hosts = self.hosts.map { "\($0.name):\($0.port)" }.joined(separator: ",")
        return "\(self.tls == nil ? "amqp" : "amqps")://\(hosts) vhost \(self.virtualHost)"
    }
}
