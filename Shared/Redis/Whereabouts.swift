import EventLoops
import Glibc

/// Finds the server that has the keys: by its name, or by what Sentinels say.
///
/// Blocks; for a thread of its own.
struct Whereabouts: Sendable {
    let configuration: RedisConfiguration
    let tls: TLSContext?
    let deadline: ContinuousClock.Instant

    /// The addresses of the server, at least one.
    ///
    /// - Throws: `RedisError`.
    func find() throws(RedisError) -> [Place] {
        switch self.configuration.discovery {
        case .server(let server): return try Self.places(of: server)
        case .sentinels(let sentinels, let master):
            var problem = RedisError(.unavailable, "no Sentinel was asked")
            for sentinel in sentinels {
                do throws(RedisError) {
                    return try Self.places(of: try self.ask(sentinel, for: master))
                } catch {
                    problem = error
                }
            }
            throw problem
        }
    }

    private static func places(of server: RedisConfiguration.Server) throws(RedisError) -> [Place] {
        try SocketAddress.all(of: server.host, port: server.port).map { Place(address: $0, name: server.host) }
    }

    private func ask(
        _ sentinel: RedisConfiguration.Server,
        for master: String
    ) throws(RedisError) -> RedisConfiguration.Server {
        var problem = RedisError(.unavailable, "the Sentinel has no address")
        for place in try Self.places(of: sentinel) {
            do throws(RedisError) { return try self.ask(place, for: master) } catch { problem = error }
        }
        throw problem
    }

    private func ask(_ place: Place, for master: String) throws(RedisError) -> RedisConfiguration.Server {
        let wire = try RedisWire(to: place, tls: self.tls)
        // One that has no password refuses the sign-in and answers all the same.
        let commands = self.configuration.signIn + [RedisCommand("SENTINEL", "get-master-addr-by-name", .text(master))]
        for command in commands { wire.queue(command.encoded(prefix: [])) }
        var replies: [RedisValue] = []
        // One Sentinel that says nothing must leave time for the others.
        let end = min(self.deadline, .now + self.configuration.connectTimeout / 3)
        while replies.count < commands.count {
            try Self.await(wire, until: end)
            try wire.proceed { replies.append($0) }
        }
        if case .error(let word)? = replies.last { throw RedisError(reply: word) }
        guard let parts = replies.last?.elements, parts.count == 2, let host = parts[0].text,
            let port = parts[1].number.flatMap({ UInt16(exactly: $0) }), port > 0
        else { throw RedisError(.misconfigured, "a Sentinel knows no master of that name") }
        return RedisConfiguration.Server(host: host, port: port)
    }

    private static func await(_ wire: RedisWire, until end: ContinuousClock.Instant) throws(RedisError) {
        let left = ContinuousClock.now.duration(to: end).components
        let milliseconds = left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000
        let events = wire.interest.contains(.write) ? POLLIN | POLLOUT : POLLIN
        var look = pollfd(fd: wire.descriptor, events: Int16(events), revents: 0)
        guard milliseconds > 0, poll(&look, 1, CInt(clamping: milliseconds)) >= 0, look.revents != 0 else {
            throw RedisError(.unavailable, "a Sentinel did not answer in time")
        }
    }
}
