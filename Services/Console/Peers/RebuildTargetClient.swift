import AsyncHTTPClient
import Contracts
import Foundation
import NIOCore
import NIOHTTP1
import Primitives

/// Services that make projections again.
protocol RebuildTargets: Sendable {
    /// A projection of a service; nil when it has none of this name.
    ///
    /// - Throws: `RebuildTargetProblem`.
    func projection(_ name: String, of service: ServiceName) async throws -> RemoteProjection?

    /// Begins a rebuild, or goes on with it; gives its generation.
    func begin(_ rebuild: RebuildOrder, archiveFrom beginning: Date?) async throws -> Int

    /// Sends a page of envelopes, and gives how many took effect.
    func send(_ envelopes: [String], _ rebuild: RebuildOrder) async throws -> Int

    /// Ends a rebuild, if nothing is missing: gives how many events are, at least.
    func finish(_ rebuild: RebuildOrder) async throws -> Int

    /// Gives a rebuild up.
    func cancel(_ rebuild: RebuildOrder) async throws
}

/// A projection, as its service describes it.
struct RemoteProjection: Decodable, Sendable {
    let name: String
    let types: [String]
    let since: String
}

/// Which projection of which service, for which replay, and in whose name.
struct RebuildOrder: Sendable {
    let replay: UUID
    let service: ServiceName
    let projection: String
    let operatorName: String
    let reason: String
}

/// Why a service does not do what a rebuild needs.
enum RebuildTargetProblem: Error, Equatable {
    /// Its address is not among the settings.
    case noAddress
    /// It did not answer, or is not ready.
    case unavailable
    /// It refuses, with this code.
    case refused(String)
}

/// Asks the services' internal ports.
struct RebuildTargetClient: RebuildTargets {
    let addresses: [ServiceName: String]
    let token: String
    let http: HTTPClient

    /// With a slice of a replay well below the lease of its job.
    private static let timeout = TimeAmount.seconds(8)
    /// The end looks at a month of the inbox; said twice it is the same.
    private static let patience = TimeAmount.seconds(30)
    private static let maximumBytes = 1024 * 1024

    private struct Projections: Decodable {
        let data: [RemoteProjection]
    }

    func projection(_ name: String, of service: ServiceName) async throws -> RemoteProjection? {
        do {
            let all: Projections = try await self.call(.GET, service, "")
            return all.data.first { $0.name == name }
        } catch RebuildTargetProblem.refused {
            // A service without projections has no such path.
            return nil
        }
    }

    private struct Begin: Encodable {
        let replay: String
        let archiveFrom: String?
        let reason: String

        private enum CodingKeys: String, CodingKey {
            case replay, reason
            case archiveFrom = "archive_from"
        }
    }

    private struct Begun: Decodable {
        let generation: Int
    }

    func begin(_ rebuild: RebuildOrder, archiveFrom beginning: Date?) async throws -> Int {
        let body = Begin(
            replay: rebuild.replay.lowercased,
            archiveFrom: beginning.map(Timestamp.text),
            reason: rebuild.reason
        )
        let begun: Begun = try await self.call(
            .POST,
            rebuild.service,
            "/\(rebuild.projection)/rebuilds",
            body: try JSONEncoder().encode(body),
            in: rebuild.operatorName
        )
        return begun.generation
    }

    private struct Taken: Decodable {
        let applied: Int
    }

    func send(_ envelopes: [String], _ rebuild: RebuildOrder) async throws -> Int {
        var bytes: [UInt8] = []
        for envelope in envelopes {
            // In JSON a line break is only ever white space between its parts.
            bytes += envelope.utf8.map {
                $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") ? UInt8(ascii: " ") : $0
            }
            bytes.append(UInt8(ascii: "\n"))
        }
        let taken: Taken = try await self.call(
            .POST,
            rebuild.service,
            Self.path(rebuild, "events"),
            body: Data(bytes),
            type: "application/jsonl",
            in: rebuild.operatorName
        )
        return taken.applied
    }

    private struct Reason: Encodable {
        let reason: String
    }

    private struct End: Decodable {
        let missing: Int
    }

    func finish(_ rebuild: RebuildOrder) async throws -> Int {
        let end: End = try await self.call(
            .POST,
            rebuild.service,
            Self.path(rebuild, "finish"),
            body: try JSONEncoder().encode(Reason(reason: rebuild.reason)),
            in: rebuild.operatorName,
            within: Self.patience
        )
        return end.missing
    }

    func cancel(_ rebuild: RebuildOrder) async throws {
        let _: Begun = try await self.call(
            .POST,
            rebuild.service,
            Self.path(rebuild, "cancel"),
            body: try JSONEncoder().encode(Reason(reason: rebuild.reason)),
            in: rebuild.operatorName
        )
    }

    private static func path(_ rebuild: RebuildOrder, _ act: String) -> String {
        "/\(rebuild.projection)/rebuilds/\(rebuild.replay.lowercased)/\(act)"
    }

    private func call<Answer: Decodable>(
        _ method: HTTPMethod,
        _ service: ServiceName,
        _ path: String,
        body: Data? = nil,
        type: String = "application/json",
        in name: String? = nil,
        within timeout: TimeAmount = Self.timeout
    ) async throws -> Answer {
        guard let address = self.addresses[service] else { throw RebuildTargetProblem.noAddress }
        var request = HTTPClientRequest(url: address + "/internal/ops/projections" + path)
        request.method = method
        request.headers.add(name: "Authorization", value: "Bearer \(self.token)")
        if let name { request.headers.add(name: "Transfa-Operator", value: name) }
        if let body {
            request.headers.add(name: "Content-Type", value: type)
            request.body = .bytes(ByteBuffer(bytes: body))
        }
        do {
            let response = try await self.http.execute(request, timeout: timeout)
            let body = Data(try await response.body.collect(upTo: Self.maximumBytes).readableBytesView)
            switch response.status.code {
            case 200..<300: return try JSONDecoder().decode(Answer.self, from: body)
            case 400..<500: throw RebuildTargetProblem.refused(Self.code(in: body) ?? "status_\(response.status.code)")
            default: throw RebuildTargetProblem.unavailable
            }
        } catch let problem as RebuildTargetProblem {
            throw problem
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            // Whatever it was: the address and the token may stand in its text.
            throw RebuildTargetProblem.unavailable
        }
    }

    private struct Errors: Decodable {
        struct One: Decodable {
            let code: String
        }

        let errors: [One]
    }

    private static func code(in body: Data) -> String? {
        (try? JSONDecoder().decode(Errors.self, from: body))?.errors.first?.code
    }
}
