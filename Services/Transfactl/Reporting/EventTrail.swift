import Contracts
import Foundation
import Primitives

/// Reads from the services' internal ports what a request caused.
struct EventTrail: Sendable {
    let caller: Caller

    private struct Page: Decodable {
        struct Published: Decodable {
            let id: UUID
            let type: EventType
            let subject: String
            let sequence: Int64
        }

        struct Handled: Decodable {
            let id: UUID
            let outcome: String
        }

        let published: [Published]
        let handled: [Handled]
    }

    /// The events under a correlation id, in order per service.
    func events(of request: UUID) async throws(Failure) -> [TracedEvent] {
        var pages: [(service: ServiceName, page: Page)] = []
        for service in ServiceName.allCases {
            let call = Call.get(.internalPort(service), "/internal/ops/requests/\(request.lowercased)")
            let answer = try await self.caller.send(call)
            guard answer.status == 200 else { throw Failure("\(call.line) answered \(answer.status).") }
            pages.append((service, try answer.decode(Page.self)))
        }
        var outcomes: [UUID: [ServiceName: String]] = [:]
        for (service, page) in pages {
            for event in page.handled { outcomes[event.id, default: [:]][service] = event.outcome }
        }
        return pages.flatMap { service, page in
            page.published.map { event in
                TracedEvent(
                    id: event.id,
                    type: event.type,
                    source: service,
                    subject: event.subject,
                    sequence: event.sequence,
                    handled: outcomes[event.id] ?? [:]
                )
            }
        }
    }
}
