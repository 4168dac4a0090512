import CoreMetrics
import EventLoops

/// Counts what became of what comes under a key or an id: whether it was the first, and who knew that it was not.
///
/// Each that is answered is counted once as first (refused or not), as repeated or as waited; `redis_unknown` is counted
/// besides, when Redis did not say, or Postgres did not say its epoch.
public final class IdempotencyMetrics: Sendable {
    /// What came.
    enum Place: String, CaseIterable, Sendable {
        case requests
        case events
        case webhooks
    }

    /// What became of it.
    enum Outcome: String, CaseIterable, Sendable {
        case first
        case repeatRedis = "repeat_redis"
        case repeatPostgres = "repeat_postgres"
        /// A second at the same moment, that got the first one's copy.
        case waited
        case redisUnknown = "redis_unknown"
    }

    private struct Name: Hashable {
        let place: Place
        let outcome: Outcome
    }

    private let counters: [Name: any CounterHandler]
    private let numbers = Locked<[Name: Int]>([:])

    /// Makes the counters, all of them at nothing.
    init(_ metrics: PrometheusRegistry) {
        var counters: [Name: any CounterHandler] = [:]
        for place in Place.allCases {
            for outcome in Outcome.allCases {
                counters[Name(place: place, outcome: outcome)] = metrics.makeCounter(
                    label: "idempotency_answers",
                    dimensions: [("place", place.rawValue), ("outcome", outcome.rawValue)]
                )
            }
        }
        self.counters = counters
    }

    func count(_ place: Place, _ outcome: Outcome, by number: Int = 1) {
        guard number > 0 else { return }
        let name = Name(place: place, outcome: outcome)
        self.counters[name]?.increment(by: Int64(number))
        self.numbers.withLock { $0[name, default: 0] += number }
    }

    /// What was counted since the start: by place, then by outcome.
    func totals() -> [String: [String: Int]] {
        self.numbers.withLock { numbers in
            numbers.reduce(into: [:]) { totals, entry in
                totals[entry.key.place.rawValue, default: [:]][entry.key.outcome.rawValue] = entry.value
            }
        }
    }
}
