import Contracts
import Foundation
import HTTPTypes
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
    let ports: any InternalPorts

    /// With a slice of a replay well below the lease of its job.
    private static let timeout = Duration.seconds(8)
    /// The end looks at a month of the inbox; said twice it is the same.
    private static let patience = Duration.seconds(30)

    private struct Projections: Decodable {
        let data: [RemoteProjection]
    }

    func projection(_ name: String, of service: ServiceName) async throws -> RemoteProjection? {
        do {
            let all: Projections = try await self.call(.get, service, "")
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
            .post,
            rebuild.service,
            "/\(rebuild.projection)/rebuilds",
            body: Array(try JSONEncoder().encode(body)),
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
            bytes += InternalCall.line(envelope)
            bytes.append(UInt8(ascii: "\n"))
        }
        let taken: Taken = try await self.call(
            .post,
            rebuild.service,
            Self.path(rebuild, "events"),
            body: bytes,
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
            .post,
            rebuild.service,
            Self.path(rebuild, "finish"),
            body: Array(try JSONEncoder().encode(Reason(reason: rebuild.reason))),
            in: rebuild.operatorName,
            within: Self.patience
        )
        return end.missing
    }

    func cancel(_ rebuild: RebuildOrder) async throws {
        let _: Begun = try await self.call(
            .post,
            rebuild.service,
            Self.path(rebuild, "cancel"),
            body: Array(try JSONEncoder().encode(Reason(reason: rebuild.reason))),
            in: rebuild.operatorName
        )
    }

    private static func path(_ rebuild: RebuildOrder, _ act: String) -> String {
        "/\(rebuild.projection)/rebuilds/\(rebuild.replay.lowercased)/\(act)"
    }

    private func call<Answer: Decodable>(
        _ method: HTTPRequest.Method,
        _ service: ServiceName,
        _ path: String,
        body: [UInt8] = [],
        type: String = "application/json",
        in name: String? = nil,
        within timeout: Duration = Self.timeout
    ) async throws -> Answer {
        var call = InternalCall(
            method: method,
            path: "/internal/ops/projections" + path,
            body: body,
            contentType: type,
            operatorName: name
        )
        call.timeout = timeout
        let answer: InternalAnswer
        do {
            answer = try await self.ports.call(service, call)
        } catch let error as ServiceUnreachable {
            throw error.hasAddress ? RebuildTargetProblem.unavailable : RebuildTargetProblem.noAddress
        }
        let told = Data(answer.body)
        switch answer.status {
        case 200..<300:
            guard let decoded = try? JSONDecoder().decode(Answer.self, from: told) else {
                throw RebuildTargetProblem.unavailable
            }
            return decoded
        case 400..<500: throw RebuildTargetProblem.refused(Self.code(in: told) ?? "status_\(answer.status)")
        default: throw RebuildTargetProblem.unavailable
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
