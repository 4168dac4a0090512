import AsyncHTTPClient
import Contracts
import Foundation
import NIOCore
import NIOHTTP1
import Primitives

/// Some events of a service's outbox, in the order of their ids.
struct OutboxPage: Sendable {
    /// Envelopes, byte for byte.
    let envelopes: [[UInt8]]
    /// What to ask for next; nil at the end.
    let next: UUID?
}

/// The outboxes of the services.
protocol Outboxes: Sendable {
    /// What an outbox has behind an id.
    ///
    /// - Throws: `OutboxProblem`.
    func events(of service: ServiceName, after id: UUID) async throws -> OutboxPage
}

/// Why an outbox cannot be read.
enum OutboxProblem: Error {
    /// Its address is not among the settings.
    case noAddress
    /// It did not answer, or not as it should.
    case unavailable
}

/// Reads outboxes from the services' internal ports.
struct OutboxClient: Outboxes {
    let addresses: [ServiceName: String]
    let token: String
    let http: HTTPClient

    private static let pageSize = 500
    private static let timeout = TimeAmount.seconds(15)
    private static let maximumBytes = 8 * 1024 * 1024
    private static let nextHeader = "Transfa-Next"

    func events(of service: ServiceName, after id: UUID) async throws -> OutboxPage {
        guard let address = self.addresses[service] else { throw OutboxProblem.noAddress }
        let path = "/internal/ops/outbox/events?after=\(id.lowercased)&limit=\(Self.pageSize)"
        var request = HTTPClientRequest(url: address + path)
        request.headers.add(name: "Authorization", value: "Bearer \(self.token)")
        do {
            let response = try await self.http.execute(request, timeout: Self.timeout)
            guard response.status == .ok else { throw OutboxProblem.unavailable }
            let body = try await response.body.collect(upTo: Self.maximumBytes)
            let lines = body.readableBytesView.split(separator: UInt8(ascii: "\n")).map { Array($0) }
            return OutboxPage(
                envelopes: lines,
                next: response.headers.first(name: Self.nextHeader).flatMap { UUID(text: $0) }
            )
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            // Whatever it was: the address and the token may stand in its text.
            throw OutboxProblem.unavailable
        }
    }
}
