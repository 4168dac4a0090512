import AsyncHTTPClient
import Contracts
import Foundation
import NIOCore
import NIOHTTP1
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
    let addresses: [ServiceName: String]
    let token: String
    let http: HTTPClient

    /// With a slice of a replay well below the lease of its job.
    private static let timeout = TimeAmount.seconds(8)
    private static let maximumBytes = 16 * 1024 * 1024

    /// The first line of the body.
    private struct Heading: Encodable {
        let replay: String
        let mode: String
        let effects: String
        let reason: String
    }

    func handle(_ items: [ReplayBatch.Item], of replay: Replay) async throws -> TargetAnswer {
        guard let address = self.addresses[replay.order.service] else { throw ReplayTargetProblem.noAddress }
        var request = HTTPClientRequest(url: address + "/internal/ops/replay")
        request.method = .POST
        request.headers.add(name: "Authorization", value: "Bearer \(self.token)")
        request.headers.add(name: "Transfa-Operator", value: replay.operatorName)
        request.headers.add(name: "Content-Type", value: "application/jsonl")
        request.body = .bytes(ByteBuffer(bytes: try Self.body(items, of: replay)))
        do {
            let response = try await self.http.execute(request, timeout: Self.timeout)
            let body = try await response.body.collect(upTo: Self.maximumBytes)
            return try Self.answer(Int(response.status.code), Data(body.readableBytesView))
        } catch let problem as ReplayTargetProblem {
            throw problem
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            // Whatever it was: the address and the token may stand in its text.
            throw ReplayTargetProblem.unavailable
        }
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
            // In JSON a line break is only ever white space between its parts.
            bytes += item.body.utf8.map {
                $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") ? UInt8(ascii: " ") : $0
            }
        }
        return bytes
    }

    private static func answer(_ status: Int, _ body: Data) throws -> TargetAnswer {
        switch status {
        case 200: break
        case 503:
            throw String(decoding: body, as: UTF8.self).contains("\"locked\"")
                ? ReplayTargetProblem.locked : ReplayTargetProblem.unavailable
        case 400..<500: throw ReplayTargetProblem.refused(status)
        default: throw ReplayTargetProblem.unavailable
        }
        let told = try JSONDecoder().decode(Told.self, from: body)
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
