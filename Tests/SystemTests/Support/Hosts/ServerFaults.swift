import TestSupport

/// Hurts the servers that a suite runs on.
protocol ServerFaults: Sendable {
    /// kill -9.
    func kill(_ server: TestServer) async throws

    /// Starts what was killed and waits until it accepts connections.
    func start(_ server: TestServer) async throws
}

extension ServerControl: ServerFaults {}
