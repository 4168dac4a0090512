import Foundation
import Primitives

/// One thing that happened in a trace.
struct TraceStep: Sendable, Hashable {
    /// What kind of thing.
    enum Kind: String, Sendable {
        /// A request or a webhook that was answered.
        case request
        /// Something that a service said.
        case event
        /// A service handled an event.
        case handler
        /// Work that was asked for.
        case job
        /// A call to the provider.
        case providerCall = "provider_call"
    }

    let kind: Kind
    /// Unique in its trace.
    let id: String
    let correlationID: UUID?
    /// What may have caused it, as keys of other steps; the first one that is there did.
    var causes: [String] = []
    var service: String?
    var name: String
    var state: String
    var startedAt: Date?
    var microseconds: Int64?
    var details = Details()

    /// What only some kinds have.
    struct Details: Sendable, Hashable {
        var subject: String?
        var sequence: Int64?
        var reference: String?
        var key: String?
        var attempts: Int?
        var reason: String?
        var dueAt: Date?
        var runs: [JobRun] = []
    }

    /// The names under which others call it their cause.
    let keys: [String]

    /// Puts a step together; without keys of its own nothing else can be caused by it.
    init(_ kind: Kind, id: String, keys: [String] = [], in correlation: UUID?, name: String, state: String) {
        self.kind = kind
        self.id = id
        self.keys = keys
        self.correlationID = correlation
        self.name = name
        self.state = state
    }

    /// When it ended, as far as that is known.
    var endedAt: Date? {
        self.startedAt.map { $0.addingTimeInterval(Double(self.microseconds ?? 0) / 1_000_000) }
    }

    /// In the order of time; what has none comes last.
    static func areInOrder(_ one: TraceStep, _ other: TraceStep) -> Bool {
        let (first, second) = (one.startedAt ?? .distantFuture, other.startedAt ?? .distantFuture)
        return first == second ? one.id < other.id : first < second
    }
}

/// Keys of steps.
extension TraceStep {
    static func handlerKey(_ event: UUID, _ service: String) -> String { "\(event.lowercased)/\(service)" }

    /// Of an event, a job or a request.
    static func key(_ id: UUID) -> String { id.lowercased }

    /// A request, as that service knows it: clients may name two requests alike.
    static func requestKey(_ id: UUID, _ service: String) -> String { "\(id.lowercased)@\(service)" }

    /// What a service means by a cause: the handling of an event there, a request there, or anything of that id.
    ///
    /// What names no cause was caused by the request that started it all.
    static func causes(_ id: UUID?, of correlation: UUID?, in service: String) -> [String] {
        guard let id = id ?? correlation else { return [] }
        return [Self.handlerKey(id, service), Self.requestKey(id, service), Self.key(id)]
    }
}

extension TraceStep {
    /// An event of the archive.
    init(_ event: TracedEvent) {
        self.init(
            .event,
            id: event.id.lowercased,
            keys: [Self.key(event.id)],
            in: event.correlationID,
            name: event.type,
            state: "published"
        )
        self.causes = Self.causes(event.causationID, of: event.correlationID, in: event.source)
        self.service = event.source
        self.startedAt = event.time
        self.details.subject = event.subject
        self.details.sequence = event.sequence
    }
}
