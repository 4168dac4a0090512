import Foundation

/// How consequences of handling events again compare with those of the first time.
struct ConsequenceDifferences {
    let freshness: Freshness

    /// - Parameters:
    ///   - first: Of the first handling.
    ///   - again: Of this one.
    ///   - idle: Events whose handling wrote nothing at all: it saw that everything is there, so nothing is missing.
    /// - Returns: What differs, in the order of the events' consequences.
    func changes(_ first: [Consequence], _ again: [Consequence], idle: Set<UUID>) -> [ReplayChange] {
        var left = first
        var changes: [ReplayChange] = []
        var others: [Consequence] = []
        for new in again {
            if let index = left.firstIndex(where: { self.isSame($0, new) }) {
                left.remove(at: index)
            } else {
                others.append(new)
            }
        }
        for new in others {
            guard let index = left.firstIndex(where: { Self.isCounterpart($0, new) }) else {
                changes.append(
                    ReplayChange(new.kind, .added, new.name, key: new.key, after: new.contents, causedBy: [new.event])
                )
                continue
            }
            let old = left.remove(at: index)
            let members = self.freshness.differing(old.contents, new.contents)
            changes.append(
                ReplayChange(
                    new.kind,
                    .changed,
                    new.name,
                    key: new.key,
                    before: old.contents.filter { members.contains($0.key) },
                    after: new.contents.filter { members.contains($0.key) },
                    causedBy: [new.event]
                )
            )
        }
        let missing = left.filter { !idle.contains($0.event) }.map { old in
            ReplayChange(old.kind, .missing, old.name, key: old.key, before: old.contents, causedBy: [old.event])
        }
        return changes + missing
    }

    private func isSame(_ old: Consequence, _ new: Consequence) -> Bool {
        Self.isCounterpart(old, new) && self.freshness.differing(old.contents, new.contents).isEmpty
    }

    private static func isCounterpart(_ old: Consequence, _ new: Consequence) -> Bool {
        old.kind == new.kind && old.name == new.name && old.key == new.key && old.event == new.event
    }
}
