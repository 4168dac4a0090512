import Contracts
import Foundation

/// An event with what became of it at those who listen.
struct TracedEvent {
    let id: UUID
    let type: EventType
    let source: ServiceName
    let subject: String
    let sequence: Int64
    /// Who handled it, and how that ended.
    let handled: [ServiceName: String]

    private var consumers: [ServiceName] { EventCatalogue.definition(of: self.type)?.consumers ?? [] }

    /// Those who have not handled it yet.
    var awaited: [ServiceName] { self.consumers.filter { self.handled[$0] == nil } }

    /// On one line.
    var text: String {
        let listeners = self.consumers.map { consumer in
            self.handled[consumer].map { "\(consumer.rawValue) (\($0))" } ?? "\(consumer.rawValue) (not yet)"
        }
        let arrow = listeners.isEmpty ? "nobody listens" : "-> \(listeners.joined(separator: ", "))"
        return "\(self.type.rawValue) by \(self.source.rawValue) #\(self.sequence) \(arrow)"
    }
}
