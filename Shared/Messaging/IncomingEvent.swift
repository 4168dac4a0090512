import Contracts
import Foundation
import Primitives

/// An event as it came from the queue: attributes decoded, data not yet.
struct IncomingEvent: Sendable {
    let attributes: EventAttributes
    let body: Data

    /// Nil when the bytes are no event of ours: no envelope, or an id that is not a UUIDv7.
    init?(body: Data) {
        guard let attributes = try? EventEnvelope.attributes(in: body), attributes.id.version7Milliseconds != nil else {
            return nil
        }
        self.attributes = attributes
        self.body = body
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
