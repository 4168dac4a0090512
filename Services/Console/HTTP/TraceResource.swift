import Foundation
import Primitives

/// A trace as JSON: a branch for each request or webhook, and in it the steps under what caused them.
struct TraceResource: Encodable {
    let asked: String
    let isComplete: Bool
    let startedAt: String?
    let microseconds: Int64?
    let unreachable: [String]
    let data: [Branch]

    /// What one request or webhook started.
    struct Branch: Encodable {
        let correlationID: String?
        let traceID: String?
        let steps: [Step]

        private enum CodingKeys: String, CodingKey {
            case correlationID = "correlation_id"
            case traceID = "trace_id"
            case steps
        }
    }

    /// A step and what it caused.
    struct Step: Encodable {
        let node: CausalTree.Node

        private enum CodingKeys: String, CodingKey {
            case kind, id, service, name, state, children, subject, sequence, reference, key, attempts, reason, runs
            case startedAt = "started_at"
            case microseconds = "duration_us"
            case dueAt = "due_at"
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            let (step, details) = (self.node.step, self.node.step.details)
            try container.encode(step.kind.rawValue, forKey: .kind)
            try container.encode(step.id, forKey: .id)
            try container.encodeIfPresent(step.service, forKey: .service)
            try container.encode(step.name, forKey: .name)
            try container.encode(step.state, forKey: .state)
            try container.encodeIfPresent(step.startedAt.map(Timestamp.text), forKey: .startedAt)
            try container.encodeIfPresent(step.microseconds, forKey: .microseconds)
            try container.encodeIfPresent(details.subject, forKey: .subject)
            try container.encodeIfPresent(details.sequence, forKey: .sequence)
            try container.encodeIfPresent(details.reference, forKey: .reference)
            try container.encodeIfPresent(details.key, forKey: .key)
            try container.encodeIfPresent(details.attempts, forKey: .attempts)
            try container.encodeIfPresent(details.reason, forKey: .reason)
            try container.encodeIfPresent(details.dueAt.map(Timestamp.text), forKey: .dueAt)
            if !details.runs.isEmpty { try container.encode(details.runs, forKey: .runs) }
            try container.encode(self.node.children.map(Step.init), forKey: .children)
        }
    }

    private enum CodingKeys: String, CodingKey {
        case asked, unreachable, data
        case isComplete = "is_complete"
        case startedAt = "started_at"
        case microseconds = "duration_us"
    }

    init(_ trace: FollowTrace.Trace, of key: TraceKey) {
        self.asked = key.text
        self.isComplete = trace.isComplete
        self.unreachable = trace.unreachable
        let steps = trace.branches.flatMap { $0.roots.flatMap(\.steps) }
        let start = steps.compactMap(\.startedAt).min()
        let end = steps.compactMap(\.endedAt).max()
        self.startedAt = start.map(Timestamp.text)
        self.microseconds = start.flatMap { start in
            end.map { Int64(($0.timeIntervalSince(start) * 1_000_000).rounded()) }
        }
        self.data = trace.branches.map { branch in
            Branch(
                correlationID: branch.correlationID?.lowercased,
                traceID: branch.traceID,
                steps: branch.roots.map(Step.init)
            )
        }
    }
}

extension CausalTree.Node {
    /// It and everything below it.
    fileprivate var steps: [TraceStep] { [self.step] + self.children.flatMap(\.steps) }
}
