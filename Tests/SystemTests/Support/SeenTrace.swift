import Contracts
import Foundation
import Primitives
import TestSupport

/// A trace as operators see it.
struct SeenTrace: Decodable {
    struct Step: Decodable {
        let kind: String
        let id: String
        let service: String?
        let name: String
        let state: String
        let children: [Step]

        var all: [Step] { [self] + self.children.flatMap(\.all) }

        /// `job submit_transfer`, `request POST /transactions/p2p`, `handler transaction.created@analytics`.
        var text: String { "\(self.kind) \(self.name)" + (self.kind == "handler" ? "@\(self.service ?? "?")" : "") }

        /// Whether steps of these texts lie below each other, here or further down, with others in between or not.
        func leads(through texts: ArraySlice<String>) -> Bool {
            let rest = self.text == texts.first ? texts.dropFirst() : texts
            return rest.isEmpty || self.children.contains { $0.leads(through: rest) }
        }
    }

    struct Branch: Decodable {
        let correlationID: String?
        let traceID: String?
        let steps: [Step]

        private enum CodingKeys: String, CodingKey {
            case steps
            case correlationID = "correlation_id"
            case traceID = "trace_id"
        }
    }

    let isComplete: Bool
    let unreachable: [String]
    let data: [Branch]

    private enum CodingKeys: String, CodingKey {
        case unreachable, data
        case isComplete = "is_complete"
    }

    var steps: [Step] { self.data.flatMap { $0.steps.flatMap(\.all) } }
    var ids: Set<String> { Set(self.steps.map { "\($0.kind) \($0.id)" }) }
    var correlations: [String] { self.data.compactMap(\.correlationID) }

    func leads(through texts: [String]) -> Bool {
        self.data.contains { $0.steps.contains { $0.leads(through: texts[...]) } }
    }
}

extension RunningSuite {
    /// What `transfactl events trace` finds under an id; nil when nothing is known.
    func trace(_ id: String) async throws -> SeenTrace? {
        let tool = try Repository.product("transfactl")
        let arguments = ["events", "trace", id, "--json"]
        let output = try? await Command.run(tool, arguments, environment: self.environment.tool)
        return try output.map { try JSONDecoder().decode(SeenTrace.self, from: Data($0.utf8)) }
    }

    /// The trace of an id, once it has every row that any service has written under its correlations, every handler that the
    /// catalogue promises, and steps below each other as these chains say.
    func wholeTrace(_ id: String, through chains: [[String]] = []) async throws -> SeenTrace {
        try await eventually("the whole trace of \(id)", within: .seconds(40), every: .milliseconds(500)) {
            () -> SeenTrace? in
            guard let trace = try await self.trace(id) else { throw TestFailure("nothing is known") }
            guard trace.isComplete, trace.unreachable.isEmpty else { throw TestFailure("not all of it was found") }
            let open = trace.steps.filter { ["no_record", "not_recorded", "not_archived"].contains($0.state) }
            guard open.isEmpty else { throw TestFailure("without a record: \(open.map(\.text))") }
            let missing = try await self.rows(under: trace.correlations).subtracting(trace.ids)
            guard missing.isEmpty else { throw TestFailure("missing: \(missing.sorted())") }
            for chain in chains where !trace.leads(through: chain) {
                throw TestFailure("no chain \(chain) among \(Set(trace.steps.map(\.text)).sorted())")
            }
            return trace
        }
    }

    /// What the services' tables say happened under some correlations, as a trace names it.
    private func rows(under correlations: [String]) async throws -> Set<String> {
        let ids = correlations.map { "'\($0)'" }.joined(separator: ",")
        var found: Set<String> = []
        for service in SuiteEnvironment.names {
            let rows = try await self.rows(
                service,
                """
                SELECT 'event ' || id FROM outbox WHERE correlation_id IN (\(ids))
                UNION ALL SELECT 'handler ' || id || '/\(service)' FROM inbox WHERE correlation_id IN (\(ids))
                UNION ALL SELECT 'job ' || id FROM jobs WHERE correlation_id IN (\(ids))
                UNION ALL SELECT 'provider_call ' || reference || '#' || attempt FROM provider_calls
                    WHERE correlation_id IN (\(ids))
                """
            )
            found.formUnion(rows)
        }
        return found
    }

    /// The trace ids of everything that any service has written under a correlation; each once.
    func traceIDs(of correlation: String) async throws -> Set<String> {
        var found: Set<String> = []
        for service in SuiteEnvironment.names {
            let rows = try await self.rows(
                service,
                """
                SELECT split_part(traceparent, '-', 2) FROM outbox WHERE correlation_id = '\(correlation)'
                UNION SELECT split_part(traceparent, '-', 2) FROM jobs WHERE correlation_id = '\(correlation)'
                UNION SELECT split_part(traceparent, '-', 2) FROM requests WHERE id = '\(correlation)'
                """
            )
            found.formUnion(rows)
        }
        return found
    }
}
