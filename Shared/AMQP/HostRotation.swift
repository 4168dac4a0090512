/// Which of the broker's addresses comes next.
///
/// Starts anywhere, so that many clients spread over a cluster.
struct HostRotation {
    private let hosts: [AMQPConfiguration.Host]
    private var index: Int

    init(_ hosts: [AMQPConfiguration.Host], start: Int? = nil) {
        self.hosts = hosts
        self.index = start ?? Int.random(in: 0..<max(1, hosts.count))
    }

    /// How many addresses one round has.
    var count: Int { self.hosts.count }

    mutating func next() -> AMQPConfiguration.Host {
        defer { self.index = (self.index + 1) % self.hosts.count }
        return self.hosts[self.index]
    }
}
