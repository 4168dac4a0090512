import Foundation
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
    /// Traces something that has just ended, if anybody wants to know.
    func trace(
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

extension EventDatabase {
    /// Traces a call of the provider that a job has made, if anybody wants to know.
    ///
    /// - Parameters:
    ///   - operation: What was asked of the provider.
    ///   - reference: What the call was about.
    ///   - job: The job that made it.
    ///   - duration: How long it took.
    ///   - failure: A code that says why it failed; nil when it did not.
    public func trace(
        call operation: String,
        _ reference: String,
        of job: Job,
        took duration: Duration,
        failure: String?
    ) {
        self.tools.trace(
            "provider \(operation)",
            .client,
            at: SpanPlace(below: job.cause),
            took: duration,
            attributes: [
                "peer.service": "provider", "transfa.provider.operation": .text(operation),
                "transfa.provider.reference": .text(reference), "transfa.job.attempt": .number(Int64(job.attempt)),
            ],
            failure: failure
        )
    }
}
