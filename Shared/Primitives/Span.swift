public import Foundation

/// Something that took its time, as tracing systems want to know it.
///
/// Holds names of routes, types and kinds, never what a person has entered.
public struct Span: Sendable {
    /// The part it plays between processes.
    public enum Kind: Int, Sendable {
        // The numbers of OpenTelemetry's `SpanKind`.
        case inside = 1
        case server = 2
        case client = 3
        case consumer = 5
    }

    /// A value of an attribute.
    public enum Value: Hashable, Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
        case text(String)
        case number(Int64)

        /// Wraps a text.
        public init(stringLiteral value: String) { self = .text(value) }
        /// Wraps a number.
        public init(integerLiteral value: Int64) { self = .number(value) }
    }

    /// Short and of few kinds: `POST /transactions/p2p`.
    public let name: String
    /// The part it plays.
    public let kind: Kind
    /// Its place in a trace.
    public let context: TraceContext
    /// The place of what caused it.
    public let parent: TraceContext?
    /// When it began.
    public let start: Date
    /// How long it took.
    public let duration: Duration
    /// By the names of OpenTelemetry's conventions.
    public let attributes: [String: Value]
    /// A code that says why it failed; nil when it did not.
    public let failure: String?

    /// Describes a span that has ended.
    public init(
        _ name: String,
        _ kind: Kind,
        _ context: TraceContext,
        parent: TraceContext?,
        start: Date,
        duration: Duration,
        attributes: [String: Value],
        failure: String? = nil
    ) {
        self.name = name
        self.kind = kind
        self.context = context
        self.parent = parent
        self.start = start
        self.duration = duration
        self.attributes = attributes
        self.failure = failure
    }
}

/// Takes spans that have ended.
public protocol SpanSink: Sendable {
    /// Keeps a span, or leaves it out; never waits.
    func record(_ span: Span)
}
