import Foundation

/// Events of a replay that are sent together, and what an answer about them means.
struct ReplayBatch: Sendable {
    /// An event that is to be handled again.
    struct Item: Sendable {
        let id: UUID
        let source: String
        let type: String
        let subject: String
        let sequence: Int64
        let body: String
    }

    /// In the order in which they are sent.
    let items: [Item]
    /// In the order of ids.
    private let ids: [UUID]

    /// The most bytes of a batch, unless a single event has more.
    private static let maximumBytes = 1 << 21

    /// Takes events in the order of their ids.
    ///
    /// Ids are made a moment before their events have their turn: within a batch the events that a service published about
    /// one subject are put into the order of their sequences.
    init(_ page: [Item]) {
        var bytes = 0
        let items = page.prefix { item in
            defer { bytes += item.body.utf8.count }
            return bytes == 0 || bytes + item.body.utf8.count <= Self.maximumBytes
        }
        self.ids = items.map(\.id)
        var places: [String: [Int]] = [:]
        for (index, item) in items.enumerated() { places["\(item.source) \(item.subject)", default: []].append(index) }
        var ordered = Array(items)
        for indices in places.values where indices.count > 1 {
            let sorted = indices.map { items[$0] }.sorted { $0.sequence < $1.sequence }
            for (index, item) in zip(indices, sorted) { ordered[index] = item }
        }
        self.items = ordered
    }

    /// What an answer says about the events up to the first that it does not speak of; that place is nil when there are none.
    func progress(_ answer: TargetAnswer) -> (place: UUID?, progress: ReplayProgress) {
        let results = Dictionary(answer.results.map { ($0.id, $0) }) { first, _ in first }
        let behind = Set(self.ids.prefix { results[$0] != nil })
        var progress = ReplayProgress(changes: answer.changes)
        progress.counts.differing = answer.differing
        for item in self.items where behind.contains(item.id) {
            guard let result = results[item.id] else { continue }
            progress.counts.done += 1
            switch result.outcome {
            case .applied: progress.counts.applied += 1
            case .known: progress.counts.known += 1
            case .refused: progress.counts.refused += 1
            case .failed: progress.counts.failed += 1
            case .unheard: break
            }
            guard result.outcome == .refused || result.outcome == .failed else { continue }
            progress.troubles.append(
                ReplayTrouble(
                    event: item.id,
                    type: item.type,
                    subject: item.subject,
                    outcome: result.outcome.rawValue,
                    reason: result.reason ?? "unknown"
                )
            )
        }
        return (self.ids.last { behind.contains($0) }, progress)
    }
}
