public import Foundation
import Primitives

/// Why something happens: the chain that a trace follows.
public struct Cause: Sendable, Hashable {
    /// The request or webhook that started it all.
    public var correlationID: UUID?
    /// The event, job or request that caused it directly.
    public var causationID: UUID?
    /// W3C trace context.
    public var traceparent: String?

    /// Puts a cause together.
    public init(correlationID: UUID? = nil, causationID: UUID? = nil, traceparent: String? = nil) {
        self.correlationID = correlationID
        self.causationID = causationID
        self.traceparent = traceparent
    }

    /// Where in the trace it stands; nil without a trace.
    var trace: TraceContext? { self.traceparent.flatMap { TraceContext.parse($0) } }

    /// The same cause of what happens within a span.
    func within(_ span: TraceContext?) -> Cause {
        guard let span else { return self }
        return Cause(correlationID: self.correlationID, causationID: self.causationID, traceparent: span.text)
    }
}
