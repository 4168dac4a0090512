import EventLoops
import Foundation

@testable import Messaging

/// A memory of events in the process, which can be told to say nothing.
final class NotedEvents: EventMemory {
    private struct State {
        var noted: [String: Set<UUID>] = [:]
        var asked: [[UUID]] = []
        var counts: [EventRecollection: Int] = [:]
        var isSilent = false
    }

    private let state = Locked(State())

    /// What it was asked, question by question.
    var asked: [[UUID]] { self.state.withLock { $0.asked } }
    /// What it was told, whatever the epoch.
    var all: Set<UUID> { self.state.withLock { $0.noted.values.reduce(into: Set<UUID>()) { $0.formUnion($1) } } }

    func noted(in epoch: String) -> Set<UUID> { self.state.withLock { $0.noted[epoch, default: []] } }

    /// How many deliveries were recognised so.
    func counted(_ outcome: EventRecollection) -> Int { self.state.withLock { $0.counts[outcome, default: 0] } }

    /// From now on it does not say what it knows.
    func beSilent() { self.state.withLock { $0.isSilent = true } }

    /// As consumers use it, with a database that is called so; nil: that does not answer.
    func recall(in epoch: String? = "one") -> EventRecall {
        EventRecall(memory: self, epoch: DatabaseEpoch(asking: { epoch }, lifetime: .seconds(600)))
    }

    func known(_ ids: [UUID], in epoch: String) async -> Set<UUID>? {
        self.state.withLock { state -> Set<UUID>? in
            state.asked.append(ids)
            return state.isSilent ? nil : state.noted[epoch, default: []].intersection(ids)
        }
    }

    func note(_ ids: [UUID], in epoch: String) async {
        self.state.withLock { $0.noted[epoch, default: []].formUnion(ids) }
    }

    func count(_ outcome: EventRecollection, _ number: Int) {
        self.state.withLock { $0.counts[outcome, default: 0] += number }
    }
}
