import AsyncHTTPClient
import Contracts
import Foundation
import Messaging
import NIOCore
import NIOHTTP1
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
    let addresses: [ServiceName: String]
    let token: String
    let http: HTTPClient

    private static let timeout = TimeAmount.seconds(5)
    private static let maximumBytes = 16 * 1024 * 1024

    func records(of service: ServiceName, _ question: TraceQuestion) async throws -> TraceRecords? {
        guard let address = self.addresses[service] else { return nil }
        var parameters: [String] = []
        if !question.correlations.isEmpty { parameters.append("correlations=\(Self.list(question.correlations))") }
        if !question.jobs.isEmpty { parameters.append("jobs=\(Self.list(question.jobs))") }
        // References have letters, digits and - _ . : alone.
        if !question.references.isEmpty {
            parameters.append("references=\(question.references.joined(separator: ","))")
        }
        let path = "/internal/ops/trace?" + parameters.joined(separator: "&")
        var request = HTTPClientRequest(url: address + path)
        request.headers.add(name: "Authorization", value: "Bearer \(self.token)")
        do {
            let response = try await self.http.execute(request, timeout: Self.timeout)
            guard response.status == .ok else { return nil }
            let body = try await response.body.collect(upTo: Self.maximumBytes)
            return try JSONDecoder().decode(TraceRecords.self, from: Data(body.readableBytesView))
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            // Whatever it was: the address and the token may stand in its text.
            return nil
        }
    }

    private static func list(_ ids: [UUID]) -> String { ids.map(\.lowercased).joined(separator: ",") }
}
