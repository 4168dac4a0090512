import EventLoops
import Logging

extension PostgresClient {
    /// Keeps the connections until the task is cancelled, then closes them: reads under way and leased connections get
    /// `shutdownGrace` to end by themselves.
    ///
    /// A lost connection is replaced, with growing pauses while that fails. Call it once.
    public func run() async {
        await withTaskCancellationHandler {
            await withDiscardingTaskGroup { group in
                for index in 0..<self.configuration.readConnections {
                    group.addTask { await self.keep(index, in: self.readers, isReadOnly: true) }
                }
                for index in 0..<self.configuration.leasedConnections {
                    group.addTask { await self.keep(index, in: self.leases, isReadOnly: false) }
                }
            }
        } onCancel: {
            self.readers.close()
            self.leases.close()
        }
        self.readers.close()
        self.leases.close()
    }

    /// Keeps one connection of a pool.
    private func keep(_ index: Int, in pool: ConnectionPool, isReadOnly: Bool) async {
        let loop = self.loops[index % self.loops.count]
        let connector = Connector(configuration: self.configuration, isReadOnly: isReadOnly)
        var failures = 0
        while !Task.isCancelled {
            do throws(PostgresError) {
                let wire = try await connector.connect(on: loop)
                failures = 0
                pool.offer(wire)
                let failure = await self.serve(wire)
                pool.forget(wire, failure)
                if let failure, !Task.isCancelled { self.log(failure, "connection lost") }
            } catch {
                failures += 1
                pool.note(error)
                if failures == 1 || failures % 20 == 0 { self.log(error, "cannot connect") }
            }
            // Also after a loss: a server that takes connections only to drop them must not be hammered.
            try? await Task.sleep(for: self.backoff(failures))
        }
    }

    private func serve(_ wire: Wire) async -> PostgresError? {
        let grace = self.configuration.shutdownGrace
        return await withTaskCancellationHandler {
            await wire.serve()
        } onCancel: {
            // Free connections have been told to close; this is for one that is busy for too long.
            wire.loop.submit {
                wire.loop.schedule(after: grace) { wire.abort() }
            }
        }
    }

    /// The pause before the next attempt, half of it by chance.
    private func backoff(_ failures: Int) -> Duration {
        let minimum = self.configuration.minimumBackoff
        let full = min(minimum * (1 << min(failures, 16)), self.configuration.maximumBackoff)
        return full * Double.random(in: 0.5...1)
    }

    private func log(_ error: PostgresError, _ what: Logger.Message) {
        guard error.code != .cancelled else { return }
        self.logger.warning(
            what,
            metadata: ["postgres.hosts": "\(self.configuration.hosts)", "error": "\(error)"]
        )
    }
}
