import Contracts
import Foundation
import HTTPTypes
import Primitives

/// Services that handle events again.
protocol ReplayTargets: Sendable {
    /// Has a batch handled.
    ///
    /// - Throws: `ReplayTargetProblem`.
    func handle(_ items: [ReplayBatch.Item], of replay: Replay) async throws -> TargetAnswer
}

/// Why a service does not handle a batch.
enum ReplayTargetProblem: Error, Equatable {
    /// Its address is not among the settings.
    case noAddress
    /// It did not answer, or is not ready.
    case unavailable
    /// Somebody's locks did not let it.
    case locked
    /// It refuses the batch, with this status.
    case refused(Int)
}

/// Sends batches to the services' internal ports.
struct ReplayTargetClient: ReplayTargets {
    let ports: any InternalPorts

    /// The first line of the body.
    private struct Heading: Encodable {
        let replay: String
        let mode: String
        let effects: String
        let reason: String
    }

    func handle(_ items: [ReplayBatch.Item], of replay: Replay) async throws -> TargetAnswer {
        var call = InternalCall(
            method: .post,
            path: "/internal/ops/replay",
            body: try Self.body(items, of: replay),
            contentType: "application/jsonl",
            operatorName: replay.operatorName
        )
        // With a slice of a replay well below the lease of its job.
        call.timeout = .seconds(8)
        call.maximumBytes = 16 * 1024 * 1024
        let answer: InternalAnswer
        do {
            answer = try await self.ports.call(replay.order.service, call)
        } catch let error as ServiceUnreachable {
            throw error.hasAddress ? ReplayTargetProblem.unavailable : ReplayTargetProblem.noAddress
        }
        return try Self.told(answer)
    }

    private static func body(_ items: [ReplayBatch.Item], of replay: Replay) throws -> [UInt8] {
        let heading = Heading(
            replay: replay.id.lowercased,
            mode: replay.order.mode.rawValue,
            effects: replay.order.effects.rawValue,
            reason: replay.reason
        )
        var bytes = Array(try JSONEncoder().encode(heading))
        for item in items {
            bytes.append(UInt8(ascii: "\n"))
            bytes += InternalCall.line(item.body)
        }
        return bytes
    }

    private static func told(_ answer: InternalAnswer) throws -> TargetAnswer {
        switch answer.status {
        case 200: break
        case 503:
            throw String(decoding: answer.body, as: UTF8.self).contains("\"locked\"")
                ? ReplayTargetProblem.locked : ReplayTargetProblem.unavailable
        case 400..<500: throw ReplayTargetProblem.refused(answer.status)
        default: throw ReplayTargetProblem.unavailable
        }
        let body = Data(answer.body)
        guard let told = try? JSONDecoder().decode(Told.self, from: body) else {
            throw ReplayTargetProblem.unavailable
        }
        let changes =
            (try JSONSerialization.jsonObject(with: body) as? [String: Any])?["changes"] as? [[String: Any]] ?? []
        return TargetAnswer(
            results: try told.results.map { result in
                guard let id = UUID(text: result.id), let outcome = TargetAnswer.Outcome(rawValue: result.outcome)
                else {
                    throw ReplayTargetProblem.unavailable
                }
                return TargetAnswer.Result(id: id, outcome: outcome, reason: result.reason)
            },
            changes: try changes.map { change in
                let text = try JSONSerialization.data(
                    withJSONObject: change,
                    options: [.sortedKeys, .withoutEscapingSlashes]
                )
                return FoundChange(
                    kind: change["kind"] as? String ?? "row",
                    body: String(decoding: text, as: UTF8.self)
                )
            },
            differing: told.differing
        )
    }

    private struct Told: Decodable {
        struct Result: Decodable {
            let id: String
            let outcome: String
            let reason: String?
        }

        let results: [Result]
        let differing: Int64
    }
}
