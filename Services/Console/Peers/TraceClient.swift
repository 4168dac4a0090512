import Contracts
import Foundation
import Messaging
import Primitives

extension TraceQuestion {
    /// Names of a kind that one question has room for.
    private static let most = 50

    /// The same in parts that have room.
    var parts: [TraceQuestion] {
        let count = [self.correlations.count, self.jobs.count, self.references.count].max() ?? 0
        return stride(from: 0, to: count, by: Self.most).map { start in
            TraceQuestion(
                correlations: Array(self.correlations.dropFirst(start).prefix(Self.most)),
                jobs: Array(self.jobs.dropFirst(start).prefix(Self.most)),
                references: Array(self.references.dropFirst(start).prefix(Self.most))
            )
        }
    }
}

/// The services that know parts of a trace.
protocol TracePeers: Sendable {
    /// What a service knows; nil when it does not answer.
    func records(of service: ServiceName, _ question: TraceQuestion) async throws -> TraceRecords?
}

/// Asks the services' internal ports.
struct TraceClient: TracePeers {
    let ports: any InternalPorts

    func records(of service: ServiceName, _ question: TraceQuestion) async throws -> TraceRecords? {
        var parameters: [String] = []
        if !question.correlations.isEmpty { parameters.append("correlations=\(Self.list(question.correlations))") }
        if !question.jobs.isEmpty { parameters.append("jobs=\(Self.list(question.jobs))") }
        // References have letters, digits and - _ . : alone.
        if !question.references.isEmpty {
            parameters.append("references=\(question.references.joined(separator: ","))")
        }
        var call = InternalCall(path: "/internal/ops/trace?" + parameters.joined(separator: "&"))
        call.timeout = .seconds(5)
        call.maximumBytes = 16 * 1024 * 1024
        do {
            let answer = try await self.ports.call(service, call)
            return answer.status == 200
                ? try? JSONDecoder().decode(TraceRecords.self, from: Data(answer.body)) : nil
        } catch is ServiceUnreachable {
            return nil
        }
    }

    private static func list(_ ids: [UUID]) -> String { ids.map(\.lowercased).joined(separator: ",") }
}
