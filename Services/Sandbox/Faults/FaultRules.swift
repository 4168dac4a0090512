import Synchronization

/// The rules that the control API set.
///
/// In memory only: a restart clears them.
final class FaultRules: Sendable {
    private struct Rules: Sendable {
        var list: [FaultRule] = []
        var lastID = 0
    }

    private static let maximum = 100
    private let rules = Mutex(Rules())

    var all: [FaultRule] { self.rules.withLock { $0.list } }

    func clear() { self.rules.withLock { $0.list.removeAll() } }

    func remove(_ id: Int) { self.rules.withLock { $0.list.removeAll { $0.id == id } } }

    /// Adds a rule; nil when there are too many.
    func add(_ rule: FaultRule) -> FaultRule? {
        self.rules.withLock { rules in
            guard rules.list.count < Self.maximum else { return nil }
            rules.lastID += 1
            var rule = rule
            rule.id = rules.lastID
            rules.list.append(rule)
            return rule
        }
    }

    /// The fault for a request, counted down.
    func take(method: String, path: String, body: () -> String) -> Fault? {
        self.rules.withLock { rules in
            guard !rules.list.isEmpty else { return nil }
            let body = body()
            let match = rules.list.firstIndex { $0.matches(method: method, path: path, body: body) }
            guard let match else { return nil }
            rules.list[match].remaining -= 1
            let fault = rules.list[match].fault
            if rules.list[match].remaining <= 0 { rules.list.remove(at: match) }
            return fault
        }
    }
}
