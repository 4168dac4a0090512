/// Compares two shapes of the same thing, place by place.
struct ShapeComparison: Sendable {
    let event: String
    let listeners: Listeners

    func changes(_ before: ValueShape, _ after: ValueShape, at place: String) -> [ContractChange] {
        guard before != after else { return [] }
        switch (before, after) {
        case (.object(let old), .object(let new)): return self.members(old, new, at: place)
        case (.list(let old), .list(let new)): return self.changes(old, new, at: "\(place)/*")
        case (.words(let old), .words(let new)): return self.words(old, new, at: place)
        default:
            let text = "is a \(after.name) and was a \(before.name): old and new cannot read each other"
            return [self.change(.fieldRetyped, place, Set(self.listeners.old + self.listeners.new).sorted(), text)]
        }
    }

    private func members(_ before: [FieldShape], _ after: [FieldShape], at place: String) -> [ContractChange] {
        let old = Dictionary(before.map { ($0.name, $0) }) { $1 }
        let new = Dictionary(after.map { ($0.name, $0) }) { $1 }
        return Set(old.keys).union(new.keys).sorted().flatMap { name in
            self.member(old[name], new[name], at: "\(place)/\(name)")
        }
    }

    private func member(_ before: FieldShape?, _ after: FieldShape?, at place: String) -> [ContractChange] {
        guard let before else { return after.map { [self.added($0, at: place)] } ?? [] }
        guard let after else {
            let text =
                before.isRequired
                ? "is gone: who runs the release before refuses what is published now"
                : "is gone: who reads it hears it no more"
            return [self.change(.fieldRemoved, place, self.listeners.old, text)]
        }
        return self.presence(before, after, at: place) + self.changes(before.shape, after.shape, at: place)
    }

    private func added(_ field: FieldShape, at place: String) -> ContractChange {
        guard field.isRequired else { return self.change(.fieldAdded, place, [], "is new and may be absent") }
        let text = "is new and required: events of the release before, waiting or replayed, are refused"
        return self.change(.fieldAdded, place, self.listeners.new, text)
    }

    private func presence(_ before: FieldShape, _ after: FieldShape, at place: String) -> [ContractChange] {
        switch (before.isRequired, after.isRequired) {
        case (false, true):
            let text = "is required and was not: events of the release before, waiting or replayed, are refused"
            return [self.change(.fieldNowRequired, place, self.listeners.new, text)]
        case (true, false):
            let text = "may be absent and was required: who runs the release before refuses an event without it"
            return [self.change(.fieldNowOptional, place, self.listeners.old, text)]
        default: return []
        }
    }

    private func words(_ before: [String], _ after: [String], at place: String) -> [ContractChange] {
        let gone = Set(before).subtracting(after).sorted()
        let new = Set(after).subtracting(before).sorted()
        var found: [ContractChange] = []
        if !gone.isEmpty {
            let text = "no longer knows \(gone.joined(separator: ", ")): who acts upon it waits in vain"
            let stopped = Set(self.listeners.old + self.listeners.new).sorted()
            found.append(self.change(.wordsRemoved, place, stopped, text))
        }
        if !new.isEmpty {
            let text = "may be \(new.joined(separator: ", ")): unknown words are kept"
            found.append(self.change(.wordsAdded, place, [], text))
        }
        return found
    }

    private func change(
        _ kind: ContractChange.Kind,
        _ place: String,
        _ stopped: [String],
        _ text: String
    ) -> ContractChange {
        self.listeners.change(kind, self.event, place, stopped, text)
    }
}
