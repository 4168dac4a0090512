import EventLoops
import Foundation
import Primitives

@testable import ConsoleService

/// A service that handles events again as services do: what it has had before has no effect.
final class MadeUpTarget: ReplayTargets {
    /// What happens when a batch comes.
    enum Mood: Sendable {
        /// It is handled and answered.
        case good
        /// Only so many events at the beginning are handled.
        case slow(Int)
        /// It is handled, and the answer is lost.
        case diesAfter
        /// It is not handled.
        case away
        /// It is refused.
        case refuses
    }

    private struct State {
        var moods: [Mood]
        var inbox: Set<UUID> = []
        var applied: [UUID] = []
        var batches = 0
        var seen: [UUID] = []
    }

    private let state: Locked<State>
    /// Events that it must not handle, and why.
    let refused: [UUID: String]
    let changes: [FoundChange]

    init(_ moods: [Mood] = [], refusing refused: [UUID: String] = [:], changes: [FoundChange] = []) {
        self.state = Locked(State(moods: moods))
        self.refused = refused
        self.changes = changes
    }

    /// What took effect, in order.
    var applied: [UUID] { self.state.withLock { $0.applied } }
    /// What came, in order.
    var seen: [UUID] { self.state.withLock { $0.seen } }
    var batches: Int { self.state.withLock { $0.batches } }

    func handle(_ items: [ReplayBatch.Item], of replay: Replay) async throws -> TargetAnswer {
        let (mood, results) = self.state.withLock { state -> (Mood, [TargetAnswer.Result]) in
            let mood = state.moods.isEmpty ? .good : state.moods.removeFirst()
            state.batches += 1
            switch mood {
            case .away, .refuses: return (mood, [])
            case .good, .diesAfter: return (mood, self.take(items[...], &state))
            case .slow(let count): return (mood, self.take(items.prefix(count), &state))
            }
        }
        switch mood {
        case .away, .diesAfter: throw ReplayTargetProblem.unavailable
        case .refuses: throw ReplayTargetProblem.refused(400)
        case .good, .slow:
            return TargetAnswer(results: results, changes: self.changes, differing: Int64(self.changes.count))
        }
    }

    private func take(_ items: ArraySlice<ReplayBatch.Item>, _ state: inout State) -> [TargetAnswer.Result] {
        items.map { item in
            state.seen.append(item.id)
            if let reason = self.refused[item.id] {
                return TargetAnswer.Result(id: item.id, outcome: .refused, reason: reason)
            }
            guard state.inbox.insert(item.id).inserted else {
                return TargetAnswer.Result(id: item.id, outcome: .known, reason: nil)
            }
            state.applied.append(item.id)
            return TargetAnswer.Result(id: item.id, outcome: .applied, reason: nil)
        }
    }
}
