import Foundation

/// Steps as a forest: under each those that it caused.
///
/// Steps whose cause is not among them begin a tree; trees are grouped by correlation, and so by the request or webhook
/// that started them.
struct CausalTree: Sendable {
    /// A step with what it caused, in the order of time.
    struct Node: Sendable {
        let step: TraceStep
        let children: [Node]
    }

    /// What one request or webhook started.
    struct Branch: Sendable {
        /// Nil for what nobody's request started.
        let correlationID: UUID?
        let roots: [Node]

        var count: Int { self.roots.reduce(0) { $0 + $1.count } }
    }

    let branches: [Branch]

    /// Chains are short; what claims to lie deeper begins a tree of its own.
    private static let maximumDepth = 64

    /// Builds the forest; the steps may come in any order, each counts once.
    init(_ steps: some Collection<TraceStep>) {
        var growth = Growth(steps)
        var branches: [UUID?: [Node]] = [:]
        var order: [UUID?] = []
        while let (step, node) = growth.nextRoot() {
            if branches[step.correlationID] == nil { order.append(step.correlationID) }
            branches[step.correlationID, default: []].append(node)
        }
        self.branches = order.map { Branch(correlationID: $0, roots: branches[$0] ?? []) }
    }

    /// The forest while it is built.
    private struct Growth {
        private let sorted: [TraceStep]
        private var caused: [String: [TraceStep]] = [:]
        private var placed: Set<String> = []
        /// Those without a known cause first; what is left then names its causes in a circle.
        private var candidates: [TraceStep]

        init(_ steps: some Collection<TraceStep>) {
            var seen: Set<String> = []
            let sorted = steps.filter { seen.insert(Self.identity($0)).inserted }.sorted(by: TraceStep.areInOrder)
            self.sorted = sorted
            let known = Set(sorted.flatMap(\.keys))
            let knownCause = { (step: TraceStep) in step.causes.first(where: known.contains) }
            self.candidates =
                (sorted.filter { knownCause($0) == nil } + sorted.filter { knownCause($0) != nil }).reversed()
            for step in sorted {
                if let cause = knownCause(step) { self.caused[cause, default: []].append(step) }
            }
        }

        private static func identity(_ step: TraceStep) -> String { "\(step.kind.rawValue)/\(step.id)" }

        mutating func nextRoot() -> (TraceStep, Node)? {
            while let step = self.candidates.popLast() {
                guard self.placed.insert(Self.identity(step)).inserted else { continue }
                return (step, self.node(step, depth: 1))
            }
            return nil
        }

        private mutating func node(_ step: TraceStep, depth: Int) -> Node {
            guard depth < CausalTree.maximumDepth else { return Node(step: step, children: []) }
            let caused = step.keys.flatMap { self.caused[$0] ?? [] }.sorted(by: TraceStep.areInOrder)
            var children: [Node] = []
            for child in caused where self.placed.insert(Self.identity(child)).inserted {
                children.append(self.node(child, depth: depth + 1))
            }
            return Node(step: step, children: children)
        }
    }
}

extension CausalTree.Node {
    /// How many steps it has, itself among them.
    var count: Int { self.children.reduce(1) { $0 + $1.count } }
}
