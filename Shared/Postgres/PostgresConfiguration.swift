import CLibPQ

/// Where the server is and how the client behaves.
public struct PostgresConfiguration: Sendable {
    /// The name the server shows for our connections.
    public var applicationName = "transfa"
    /// Connections that all reads share, pipelined.
    public var readConnections = 2
    /// Connections that writes and transactions lease.
    public var leasedConnections = 6
    /// Event loop threads the connections are spread over.
    public var loops = 1
    /// Longest time a statement may run, on the server and for us; zero is no limit.
    public var statementTimeout: Duration = .seconds(5)
    /// Longest time one host may take to accept a connection; whole seconds, two at least.
    public var connectTimeout: Duration = .seconds(5)
    /// Longest time to wait for a free connection, or for any connection while the server is away.
    public var leaseTimeout: Duration = .seconds(3)
    /// Longest time that leased connections may go on after the client was told to stop.
    public var shutdownGrace: Duration = .seconds(5)
    /// Pause before the first new attempt to connect; doubled with each failure, with jitter.
    public var minimumBackoff: Duration = .milliseconds(100)
    /// Longest pause between two attempts to connect.
    public var maximumBackoff: Duration = .seconds(5)
    /// Server settings of each connection, for instance `plan_cache_mode`.
    public var settings: [String: String] = [:]
    /// Prepared statements kept per connection.
    public var preparedStatements = 256
    /// Statements under way on one connection; more are refused.
    public var pipelineDepth = 1_024
    /// Callers that wait for a connection at the same time; more are refused.
    public var maximumWaiters = 1_024

    private let keywords: [String: String]

    /// Reads a URL such as `postgres://user:password@host1:5432,host2/db?sslmode=verify-full&target_session_attrs=primary`.
    ///
    /// Everything libpq knows may stand in the query part. What is not there is taken from libpq's environment
    /// variables and defaults.
    ///
    /// - Throws: `PostgresError` with the code `configuration`; it never quotes the URL.
    public init(url: String) throws(PostgresError) {
        guard url.hasPrefix("postgres://") || url.hasPrefix("postgresql://") else {
            throw PostgresError(.configuration, "a database URL starts with postgres://")
        }
        guard !url.utf8.contains(0), let options = PQconninfoParse(url, nil) else {
            throw PostgresError(.configuration, "the database URL cannot be read")
        }
        defer { PQconninfoFree(options) }
        var keywords: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { keywords[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        self.keywords = keywords
    }

    /// The hosts, for logs.
    var hosts: String { self.keywords["host"] ?? "local socket" }

    /// What libpq connects with.
    func connectionKeywords(isReadOnly: Bool) -> [String: String] {
        var options = self.settings
        options["statement_timeout"] = options["statement_timeout"] ?? "\(self.statementTimeout.milliseconds)"
        if isReadOnly { options["default_transaction_read_only"] = "on" }
        let escaped = options.sorted { $0.key < $1.key }.map { "-c \($0.key)=\(escape($0.value))" }
        var all = self.keywords
        all["options"] = ([all["options"]].compactMap(\.self) + escaped).joined(separator: " ")
        all["client_encoding"] = "UTF8"
        let defaults = [
            "application_name": self.applicationName,
            "connect_timeout": "\(max(2, self.connectTimeout.components.seconds))",
            // A blocking handshake that nothing here uses.
            "gssencmode": "disable",
            "keepalives_idle": "30",
            "keepalives_interval": "10",
            "keepalives_count": "3",
            "tcp_user_timeout": "30000",
        ]
        return all.merging(defaults) { given, _ in given }
    }
}

/// `options` is split at spaces; a backslash keeps one.
private func escape(_ value: String) -> String {
    String(value.flatMap { $0 == " " || $0 == "\\" ? ["\\", $0] : [$0] })
}

extension Duration {
    /// Whole milliseconds.
    var milliseconds: Int64 {
        let (seconds, attoseconds) = self.components
        return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    }
}
