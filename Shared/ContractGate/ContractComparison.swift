/// Compares what was released with what is to be released.
///
/// Events wait in queues, outboxes and the archive, and a service can be rolled back alone. So both ways must work: the
/// new services with the old events, and the old services with the new events.
public struct ContractComparison: Sendable {
    private let before: EventDocument
    private let after: EventDocument

    /// Compares two documents.
    public init(before: EventDocument, after: EventDocument) {
        self.before = before
        self.after = after
    }

    /// Every difference, in the order of the events.
    public var changes: [ContractChange] {
        let before = Dictionary(self.before.kinds.map { ($0.type, $0) }) { $1 }
        let after = Dictionary(self.after.kinds.map { ($0.type, $0) }) { $1 }
        let types = Set(before.keys).union(after.keys).sorted()
        return self.common + types.flatMap { Self.changes(before[$0], after[$0]) }
    }

    /// What concerns all events.
    private var common: [ContractChange] {
        let (old, new) = (self.before, self.after)
        let everybody = Listeners(
            old: Set(old.kinds.flatMap(\.consumers)).sorted(),
            new: Set(new.kinds.flatMap(\.consumers)).sorted()
        )
        var found: [ContractChange] = []
        if old.exchange != new.exchange {
            found.append(
                everybody.all(.exchangeChanged, "*", "goes to \(new.exchange) and no longer to \(old.exchange)")
            )
        }
        if old.partitions != new.partitions {
            let text =
                "is spread over \(new.partitions) partitions and no longer over \(old.partitions): its order is lost"
            found.append(everybody.all(.partitionsChanged, "*", text))
        }
        let envelope = ShapeComparison(event: "*", listeners: everybody)
        return found + envelope.changes(old.envelope, new.envelope, at: "")
            + envelope.changes(old.headers, new.headers, at: "/headers")
    }

    private static func changes(_ before: EventDocument.Kind?, _ after: EventDocument.Kind?) -> [ContractChange] {
        guard let before else {
            return after.map { kind in
                [Listeners(old: [], new: []).all(.eventAdded, kind.type, "is new")]
            } ?? []
        }
        let type = before.type
        let gone = Listeners(old: before.consumers, new: before.consumers)
        guard let after else { return [gone.all(.eventRemoved, type, "is no longer published")] }
        var found: [ContractChange] = []
        if before.majorVersion != after.majorVersion {
            let text =
                "is version \(after.majorVersion) and no longer \(before.majorVersion): who knows the other parks it"
            found.append(gone.all(.versionChanged, type, text))
        }
        if before.source != after.source {
            let text = "comes from \(after.source) and no longer from \(before.source): its order begins anew"
            found.append(gone.all(.sourceChanged, type, text))
        }
        if before.subject != after.subject {
            let text =
                "is about: \(after.subject), and no longer about: \(before.subject): another order, another partition"
            found.append(gone.all(.subjectChanged, type, text))
        }
        if before.routingKey != after.routingKey {
            let text = "is published as \(after.routingKey) and no longer as \(before.routingKey)"
            found.append(gone.all(.routingKeyChanged, type, text))
        }
        let data = ShapeComparison(event: type, listeners: Listeners(old: before.consumers, new: after.consumers))
        return found + self.consumers(before, after) + data.changes(before.data, after.data, at: "/data")
    }

    private static func consumers(_ before: EventDocument.Kind, _ after: EventDocument.Kind) -> [ContractChange] {
        let added = Set(after.consumers).subtracting(before.consumers).sorted().map { service in
            let nobody = Listeners(old: [], new: [])
            return nobody.all(.consumerAdded, after.type, "is heard by \(service) from now on")
        }
        let removed = Set(before.consumers).subtracting(after.consumers).sorted().map { service in
            guard after.formerConsumers.contains(service) else {
                let text = "is no longer heard by \(service), whose queue keeps the binding: name it among the former"
                return Listeners(old: [service], new: []).all(.consumerRemoved, after.type, text)
            }
            let nobody = Listeners(old: [], new: [])
            return nobody.all(
                .consumerRemoved,
                after.type,
                "is no longer heard by \(service), which gives up its binding"
            )
        }
        return added + removed
    }
}

/// Who listens, in the release before and in the one to come.
struct Listeners: Sendable {
    let old: [String]
    let new: [String]

    /// A change that stops all who listened.
    func all(_ kind: ContractChange.Kind, _ event: String, _ text: String) -> ContractChange {
        self.change(kind, event, "", self.old, text)
    }

    /// A change that stops these; nobody is no break.
    func change(
        _ kind: ContractChange.Kind,
        _ event: String,
        _ place: String,
        _ stopped: [String],
        _ text: String
    ) -> ContractChange {
        let what = event == "*" ? "Every event" : event
        return ContractChange(
            kind: kind,
            event: event,
            place: place,
            effect: stopped.isEmpty ? .none : .breaks(stopped),
            text: "\(what)\(place.isEmpty ? "" : " \(place)") \(text)."
        )
    }
}
