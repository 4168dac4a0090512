import Contracts
import Foundation
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
    let ports: any InternalPorts

    private static let pageSize = 500
    private static let nextHeader = "Transfa-Next"

    func events(of service: ServiceName, after id: UUID) async throws -> OutboxPage {
        var call = InternalCall(path: "/internal/ops/outbox/events?after=\(id.lowercased)&limit=\(Self.pageSize)")
        call.timeout = .seconds(15)
        do {
            let answer = try await self.ports.call(service, call)
            guard answer.status == 200 else { throw OutboxProblem.unavailable }
            return OutboxPage(
                envelopes: answer.body.split(separator: UInt8(ascii: "\n")).map { Array($0) },
                next: answer.header(Self.nextHeader).flatMap { UUID(text: $0) }
            )
        } catch let error as ServiceUnreachable {
            throw error.hasAddress ? OutboxProblem.unavailable : OutboxProblem.noAddress
        }
    }
}
