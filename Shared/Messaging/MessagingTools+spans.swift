import Primitives

/// Where something that is done for a cause stands in its trace.
struct SpanPlace: Sendable {
    let context: TraceContext
    let parent: TraceContext

    /// A new place below a cause; nil when the cause has no trace.
    init?(below cause: Cause) {
        guard let parent = cause.trace else { return nil }
        self.parent = parent
        self.context = parent.child()
    }
}

extension MessagingTools {
    /// Tells of something that has just ended, if anybody wants to know.
    func tell(
        _ name: String,
        _ kind: Span.Kind,
        at place: SpanPlace?,
        took duration: Duration,
        attributes: [String: Span.Value],
        failure: String? = nil
    ) {
        guard let spans = self.spans, let place, place.context.isSampled else { return }
        spans.record(
            Span(
                name,
                kind,
                place.context,
                parent: place.parent,
                start: self.clock.now.addingTimeInterval(-(duration / .seconds(1))),
                duration: duration,
                attributes: attributes,
                failure: failure
            )
        )
    }
}
