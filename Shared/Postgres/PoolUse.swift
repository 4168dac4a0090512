/// How the connections of a pool are used at a moment.
public struct PoolUse: Sendable, Hashable {
    /// Connections that nobody has leased; of shared ones, all.
    public let idle: Int
    /// Leased connections.
    public let used: Int
    /// Callers that wait for a connection.
    public let waiting: Int
}

extension PostgresClient {
    /// How its pools are used: shared connections for reads, leased ones for writes and transactions.
    public var use: [(pool: String, use: PoolUse)] { [("reads", self.readers.use), ("leases", self.leases.use)] }
}
