import Foundation
import Primitives

/// A trace as the archive gives it.
struct TraceTree: Decodable {
    let isComplete: Bool
    let startedAt: String?
    let unreachable: [String]
    let data: [Branch]

    struct Branch: Decodable {
        let correlationID: String?
        let traceID: String?
        let steps: [Step]

        private enum CodingKeys: String, CodingKey {
            case correlationID = "correlation_id"
            case traceID = "trace_id"
            case steps
        }
    }

    struct Step: Decodable {
        let kind: String
        let id: String
        let service: String?
        let name: String
        let state: String
        let startedAt: String?
        let microseconds: Int64?
        let subject: String?
        let reference: String?
        let attempts: Int?
        let reason: String?
        let children: [Step]

        private enum CodingKeys: String, CodingKey {
            case kind, id, service, name, state, subject, reference, attempts, reason, children
            case startedAt = "started_at"
            case microseconds = "duration_us"
        }
    }

    private enum CodingKeys: String, CodingKey {
        case unreachable, data
        case isComplete = "is_complete"
        case startedAt = "started_at"
    }

    /// As a tree for a terminal: how long after the beginning, what, where, how it ended, how long it took.
    var lines: [String] {
        let start = self.startedAt.flatMap { Timestamp.parse($0) }
        var lines = self.data.flatMap { branch in
            let title =
                branch.correlationID.map { id in
                    "request or webhook \(id)" + (branch.traceID.map { ", trace \($0)" } ?? "")
                } ?? "started by nobody's request"
            return [title] + Self.lines(of: branch.steps, "", since: start)
        }
        if !self.unreachable.isEmpty {
            lines.append(
                "not asked, or without an answer: \(self.unreachable.joined(separator: ", ")); what they did is missing"
            )
        }
        if !self.isComplete { lines.append("... and more: a trace ends at 2000 events") }
        return lines
    }

    private static func lines(of steps: [Step], _ indent: String, since start: Date?) -> [String] {
        steps.enumerated().flatMap { index, step in
            let isLast = index == steps.count - 1
            return ["\(indent)\(isLast ? "└─" : "├─") \(step.text(since: start))"]
                + Self.lines(of: step.children, indent + (isLast ? "   " : "│  "), since: start)
        }
    }
}

extension TraceTree.Step {
    /// On one line.
    func text(since start: Date?) -> String {
        var words = [Self.offset(self.startedAt, since: start)]
        let place = self.service ?? "?"
        switch self.kind {
        case "request":
            words +=
                self.state == "not_recorded" ? ["request, not recorded", self.id] : [self.name, place, self.state]
        case "event":
            words += [self.name, "by \(place)", "about \(self.subject ?? "-")", self.id] + self.stateUnlessPublished
        case "handler": words += ["handled by \(place)", self.state == "handled" ? "" : self.handlerState]
        case "job":
            let runs = self.attempts.map { $0 == 1 ? "once" : "\($0) times" } ?? ""
            words += [
                "job \(self.name)", place, self.state, "run \(runs)", self.id, self.reason.map { "(\($0))" } ?? "",
            ]
        case "provider_call":
            words += ["provider: \(self.name)", self.reference ?? "", "attempt \(self.attempts ?? 1)", self.state]
        default: words += [self.kind, self.name, place, self.state]
        }
        words.append(self.microseconds.map(Self.span) ?? "")
        return words.filter { !$0.isEmpty }.joined(separator: "  ")
    }

    private var stateUnlessPublished: [String] {
        self.state == "published" ? [] : [self.state.replacing("_", with: " ")]
    }

    private var handlerState: String { self.state == "no_record" ? "no record (yet)" : self.state }

    private static func offset(_ moment: String?, since start: Date?) -> String {
        guard let start, let moment = moment.flatMap({ Timestamp.parse($0) }) else { return "      -" }
        return "+" + Self.span(Int64(moment.timeIntervalSince(start) * 1_000_000))
    }

    /// Three digits are enough for people.
    private static func span(_ microseconds: Int64) -> String {
        switch microseconds {
        case ..<1000: "\(microseconds) µs"
        case ..<10_000: "\(microseconds / 1000).\(microseconds / 100 % 10) ms"
        case ..<1_000_000: "\(microseconds / 1000) ms"
        case ..<60_000_000: "\(microseconds / 1_000_000).\(microseconds / 100_000 % 10) s"
        default: "\(microseconds / 60_000_000) min \(microseconds / 1_000_000 % 60) s"
        }
    }
}
