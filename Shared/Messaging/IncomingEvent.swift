import Contracts
import Foundation
import Primitives

/// An event as it came from the queue: attributes decoded, data not yet.
struct IncomingEvent: Sendable {
    let attributes: EventAttributes
    let body: Data

    /// Nil when the bytes are no event of ours: no envelope, an id that is not a UUIDv7, or attributes that could not even
    /// be parked because no column holds them.
    init?(body: Data) {
        guard let attributes = try? EventEnvelope.attributes(in: body), attributes.id.version7Milliseconds != nil,
            [attributes.source, attributes.type.rawValue, attributes.subject].allSatisfy(Self.isStorable)
        else {
            return nil
        }
        self.init(attributes, body)
    }

    private init(_ attributes: EventAttributes, _ body: Data) {
        self.attributes = attributes
        self.body = body
    }

    /// The same event, handled again: its handler sees by which replay.
    func replayed(by id: UUID) -> IncomingEvent {
        var attributes = self.attributes
        attributes.replayid = id
        return IncomingEvent(attributes, self.body)
    }

    /// Whether its id was made in a range of times, in milliseconds since 1970.
    func isMade(within times: Range<Int64>) -> Bool {
        self.attributes.id.version7Milliseconds.map(times.contains) ?? false
    }

    /// Whether it says that it is of the one service that publishes its kind.
    var isOfItsPublisher: Bool {
        EventCatalogue.isPublisher(self.attributes.source, of: self.attributes.type)
    }

    /// Why it is not given to who expects this major version of its kind; nil when it is.
    func problem(expecting majorVersion: Int) -> EventProblem? {
        guard self.isOfItsPublisher else { return .wrongSource }
        return self.attributes.majorVersion == majorVersion ? nil : .unknownVersion
    }

    /// Text in Postgres has no NUL, and an index entry has a limit.
    private static func isStorable(_ text: String) -> Bool {
        text.utf8.count <= 512 && !text.utf8.contains(0)
    }

    /// What a handler's own events and jobs are caused by.
    var cause: Cause {
        Cause(
            correlationID: self.attributes.correlationid,
            causationID: self.attributes.id,
            traceparent: self.attributes.traceparent
        )
    }
}
