import Contracts
import Foundation
import Primitives

extension TraceRecords {
    /// As steps of a trace.
    func steps(of service: String) -> [TraceStep] {
        var steps = self.requests.enumerated().map { Self.step($0.element, number: $0.offset, service) }
        steps += self.handled.map { Self.step($0, service) }
        steps += self.jobs.map { Self.step($0, service) }
        steps += self.providerCalls.map { self.step($0, service) }
        return steps
    }

    /// The handlings that the catalogue promises and this service's inbox does not show.
    func awaited(_ service: ServiceName, _ events: some Collection<TracedEvent>) -> [TraceStep] {
        let known = Set(self.handled.map(\.id))
        return events.filter { event in
            !known.contains(event.id)
                && EventCatalogue.definition(of: EventType(rawValue: event.type))?.consumers.contains(service) == true
        }.map { event in
            Self.handler(event.id, event.type, service.rawValue, event.correlationID, state: "no_record")
        }
    }

    private static func step(_ request: Request, number: Int, _ service: String) -> TraceStep {
        var step = TraceStep(
            .request,
            id: "\(request.id.lowercased)@\(service)#\(number)",
            keys: [TraceStep.requestKey(request.id, service), TraceStep.key(request.id)],
            in: request.id,
            name: "\(request.method) \(request.route)",
            state: "\(request.status)"
        )
        step.service = service
        step.startedAt = Timestamp.parse(request.startedAt)
        step.microseconds = request.microseconds
        return step
    }

    private static func handler(
        _ event: UUID,
        _ type: String,
        _ service: String,
        _ correlation: UUID?,
        state: String
    ) -> TraceStep {
        let key = TraceStep.handlerKey(event, service)
        var step = TraceStep(.handler, id: key, keys: [key], in: correlation, name: type, state: state)
        step.causes = [TraceStep.key(event)]
        step.service = service
        return step
    }

    private static func step(_ handled: Handled, _ service: String) -> TraceStep {
        var step = Self.handler(handled.id, handled.type, service, handled.correlationID, state: handled.outcome)
        step.microseconds = handled.microseconds
        // The end of its batch: it began so long before, or a little earlier.
        step.startedAt = Timestamp.parse(handled.handledAt)?
            .addingTimeInterval(Double(handled.microseconds) / -1_000_000)
        return step
    }

    private static func step(_ job: Job, _ service: String) -> TraceStep {
        var step = TraceStep(
            .job,
            id: job.id.lowercased,
            keys: [TraceStep.key(job.id)],
            in: job.correlationID,
            name: job.kind,
            state: job.state
        )
        step.causes = TraceStep.causes(job.causationID, of: job.correlationID, in: service)
        step.service = service
        step.startedAt = Timestamp.parse(job.createdAt)
        step.microseconds = Self.span(job.createdAt, job.finishedAt)
        step.details = TraceStep.Details(
            subject: job.subject,
            key: job.key,
            attempts: job.attempts,
            reason: job.lastError,
            dueAt: Timestamp.parse(job.dueAt),
            runs: job.runs ?? []
        )
        return step
    }

    private func step(_ call: ProviderCall, _ service: String) -> TraceStep {
        var step = TraceStep(
            .providerCall,
            id: "\(call.reference)#\(call.attempt)",
            in: call.correlationID,
            name: call.operation,
            state: call.outcome ?? "open"
        )
        step.causes = [call.jobID ?? self.job(of: call)?.id, call.correlationID].compactMap { $0.map(TraceStep.key) }
        step.service = service
        step.startedAt = Timestamp.parse(call.startedAt)
        step.microseconds = Self.span(call.startedAt, call.endedAt)
        step.details = TraceStep.Details(reference: call.reference, attempts: call.attempt)
        return step
    }

    /// Calls that move money are recorded by a database function, which knows the transfer and not the job: its key names
    /// the transfer, as the reference does.
    private func job(of call: ProviderCall) -> Job? {
        self.jobs.first { call.reference == $0.key || call.reference == "trf-\($0.key)" }
    }

    private static func span(_ start: String, _ end: String?) -> Int64? {
        guard let start = Timestamp.parse(start), let end = end.flatMap({ Timestamp.parse($0) }) else { return nil }
        return Int64((max(0, end.timeIntervalSince(start)) * 1_000_000).rounded())
    }
}
