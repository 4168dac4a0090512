import Contracts
import Foundation
import Primitives

/// What a trace begins with: the id of an event, a request, a transfer or a payment, ours or the provider's.
struct TraceKey: Sendable, Hashable {
    /// As it was written, ids in lower case.
    let text: String
    /// The id, when it is one.
    let id: UUID?

    /// Begins our references at the provider.
    private static let referencePrefix = "trf-"

    /// Nil when no event has such an id.
    init?(_ text: some StringProtocol) {
        guard (1...128).contains(text.utf8.count), text.utf8.allSatisfy(Self.isAllowed) else { return nil }
        self.id = UUID(text: text)
        self.text = self.id?.lowercased ?? String(text)
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
            UInt8(ascii: ":"):
            true
        default: false
        }
    }

    /// The names under which events speak of it: a transfer is also its reference at the provider.
    var names: [String] { Self.names(of: self.text) }

    private static func names(of name: String) -> [String] {
        if name.hasPrefix(Self.referencePrefix) { return [name, String(name.dropFirst(Self.referencePrefix.count))] }
        return UUID(text: name) == nil ? [name] : [name, Self.referencePrefix + name]
    }

    /// What else speaks of the transfers and payments that these events are about.
    ///
    /// What is about a person or a service is about too much.
    static func names(in events: some Collection<TracedEvent>) -> Set<String> {
        var names: Set<String> = []
        for event in events {
            switch EventCatalogue.definition(of: EventType(rawValue: event.type))?.subject {
            case .transaction, .charge, .dispute, .provider: names.formUnion(Self.names(of: event.subject))
            case .user, .moneyDrop, .paymentRequest, .service, nil: break
            }
            for reference in event.references { names.formUnion(Self.names(of: reference)) }
        }
        return names
    }
}
