/// Lets concurrent callers that want the same value share one fetch.
actor SingleFlight<Key: Hashable & Sendable, Value: Sendable> {
    private enum Landing: Sendable {
        case value(Value)
        case failed(any Error)
        /// The caller that fetched went away; somebody else must.
        case abandoned
    }

    private var flights: [Key: [CheckedContinuation<Landing, Never>]] = [:]

    /// Fetches, or waits for the fetch that is running for the same key.
    ///
    /// Waiting does not end by cancellation: `fetch` must have a deadline of its own.
    func value(for key: Key, fetch: @Sendable () async throws -> Value) async throws -> Value {
        while self.flights[key] != nil {
            switch await self.landing(of: key) {
            case .value(let value): return value
            case .failed(let error): throw error
            case .abandoned: continue
            }
        }
        self.flights[key] = []
        do {
            let value = try await fetch()
            self.land(key, .value(value))
            return value
        } catch {
            self.land(key, Task.isCancelled ? .abandoned : .failed(error))
            throw error
        }
    }

    private func landing(of key: Key) async -> Landing {
        await withCheckedContinuation { self.flights[key, default: []].append($0) }
    }

    private func land(_ key: Key, _ landing: Landing) {
        for waiter in self.flights.removeValue(forKey: key) ?? [] {
            waiter.resume(returning: landing)
        }
    }
}
