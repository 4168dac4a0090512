import EventLoops
import Foundation

/// What was found out about somebody, for two seconds: long enough for a burst, short enough for an end.
final class RecentFacts<Question: Hashable & Sendable, Fact: Sendable>: Sendable {
    private struct Entry: Sendable {
        let fact: Fact
        let until: ContinuousClock.Instant
    }

    private let lifetime = Duration.seconds(2)
    private let capacity = 4096
    private let entries = Locked<[Question: Entry]>([:])

    /// What is known, or what `look` finds; kept where `keeps` says so.
    func fact(
        _ question: Question,
        keeping keeps: (Fact) -> Bool,
        look: (Question) async throws -> Fact
    ) async throws -> Fact {
        if let entry = self.entries.withLock({ $0[question] }), entry.until > .now {
            return entry.fact
        }
        let fact = try await look(question)
        guard keeps(fact) else { return fact }
        let entry = Entry(fact: fact, until: .now.advanced(by: self.lifetime))
        self.entries.withLock { entries in
            if entries.count >= self.capacity {
                entries.removeAll(keepingCapacity: true)
            }
            entries[question] = entry
        }
        return fact
    }
}
