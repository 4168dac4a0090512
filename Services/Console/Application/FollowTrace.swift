import Contracts
import Foundation
import Messaging
import Primitives

/// Puts together everything that belongs to a request, an event, a job, a transfer, a payment or a reference at the
/// provider: events from the archive; requests, handlings, jobs and calls from the services' own records.
struct FollowTrace: Sendable {
    let events: TraceEvents
    let reads: ArchiveReads
    let peers: any TracePeers

    /// What was found.
    struct Trace: Sendable {
        let branches: [Branch]
        /// Whether that is all of it.
        let isComplete: Bool
        /// Services that did not answer.
        let unreachable: [String]
    }

    /// What one request or webhook started.
    struct Branch: Sendable {
        let correlationID: UUID?
        let traceID: String?
        let roots: [CausalTree.Node]
    }

    /// Parts of one question: a trace that names more than 200 requests is no story of one thing.
    private static let maximumParts = 4

    /// What was found so far.
    fileprivate struct Findings {
        var events: [UUID: TracedEvent] = [:]
        var records: [ServiceName: TraceRecords] = [:]
        var unreachable: Set<ServiceName> = []
        var asked: Set<UUID> = []
        var isComplete = true
    }

    /// Follows a key; nil when nothing is known under it.
    func callAsFunction(_ key: TraceKey) async throws -> Trace? {
        let archived = try await self.events(key)
        var findings = Findings(isComplete: archived.isComplete)
        findings.add(archived.events)
        var question = findings.question
        if let id = key.id {
            question.correlations.append(id)
            question.jobs.append(id)
        }
        question.references = key.names
        try await self.ask(question, &findings)
        // What was found by the id of a job or by a reference belongs to a request that was not known yet.
        let new = findings.records.values.reduce(into: Set<UUID>()) { $0.formUnion($1.correlations) }
            .subtracting(findings.asked)
        if !new.isEmpty {
            findings.add(try await self.reads.events(correlatedBy: new, limit: TraceEvents.maximumEvents))
            question = findings.question
            question.correlations = Array(new)
            try await self.ask(question, &findings)
        }
        guard !findings.isEmpty else { return nil }
        return findings.trace
    }

    private func ask(_ question: TraceQuestion, _ findings: inout Findings) async throws {
        let parts = question.parts
        if parts.count > Self.maximumParts { findings.isComplete = false }
        for part in parts.prefix(Self.maximumParts) {
            findings.asked.formUnion(part.correlations)
            let services = ServiceName.allCases.filter { !findings.unreachable.contains($0) }
            let answers: [(ServiceName, TraceRecords?)] = try await withThrowingTaskGroup(
                of: (ServiceName, TraceRecords?).self
            ) { group in
                for service in services {
                    group.addTask { (service, try await self.peers.records(of: service, part)) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for (service, records) in answers { findings.add(records, of: service) }
        }
    }
}

extension FollowTrace.Findings {
    mutating func add(_ events: [TracedEvent]) {
        for event in events { self.events[event.id] = event }
    }

    mutating func add(_ records: TraceRecords?, of service: ServiceName) {
        guard let records else {
            self.unreachable.insert(service)
            return
        }
        guard let known = self.records[service] else {
            self.records[service] = records
            return
        }
        self.records[service] = known.adding(records)
    }

    var isEmpty: Bool { self.events.isEmpty && self.records.values.allSatisfy(\.isEmpty) }

    /// What services may know of the events: their correlations, and the jobs among their causes.
    var question: TraceQuestion {
        let correlations = Set(self.events.values.compactMap(\.correlationID))
        let causes = Set(self.events.values.compactMap(\.causationID)).subtracting(correlations)
            .subtracting(self.events.keys)
        return TraceQuestion(correlations: Array(correlations), jobs: Array(causes))
    }

    var trace: FollowTrace.Trace {
        var steps = self.events.values.map { TraceStep($0) }
        for (service, records) in self.records {
            steps += records.steps(of: service.rawValue)
            steps += records.awaited(service, self.events.values)
        }
        steps += self.notArchived
        let recorded = Set(steps.filter { $0.kind == .request }.compactMap(\.correlationID))
        let unrecorded = Set(steps.compactMap(\.correlationID)).subtracting(recorded)
        let known = steps
        steps += unrecorded.map { id in Self.notRecorded(id, before: known.filter { $0.correlationID == id }) }
        let branches = CausalTree(steps).branches.map { branch in
            FollowTrace.Branch(
                correlationID: branch.correlationID,
                traceID: branch.correlationID.flatMap { id in
                    self.records.values.compactMap { $0.traceID(of: id) }.first
                },
                roots: branch.roots
            )
        }
        return FollowTrace.Trace(
            branches: branches,
            isComplete: self.isComplete,
            unreachable: self.unreachable.map(\.rawValue).sorted()
        )
    }

    /// Events that were handled and that the archive does not have yet, or no longer.
    private var notArchived: [TraceStep] {
        var seen: Set<UUID> = []
        return self.records.values.flatMap(\.handled).filter {
            self.events[$0.id] == nil && seen.insert($0.id).inserted
        }.map { handled in
            var step = TraceStep(
                .event,
                id: handled.id.lowercased,
                keys: [TraceStep.key(handled.id)],
                in: handled.correlationID,
                name: handled.type,
                state: "not_archived"
            )
            step.startedAt = handled.id.version7Milliseconds.map { Date(millisecondsSince1970: $0) }
            return step
        }
    }

    /// A request of which no service has a row: it changes nothing (GET), or its service crashed a moment later.
    ///
    /// It began no later than what it started.
    private static func notRecorded(_ id: UUID, before others: [TraceStep]) -> TraceStep {
        var step = TraceStep(
            .request,
            id: id.lowercased,
            keys: [TraceStep.key(id)],
            in: id,
            name: "request",
            state: "not_recorded"
        )
        step.startedAt = others.compactMap(\.startedAt).min()
        return step
    }
}

extension TraceRecords {
    /// Both together, each thing once.
    fileprivate func adding(_ other: TraceRecords) -> TraceRecords {
        let (jobs, handled) = (Set(self.jobs.map(\.id)), Set(self.handled.map(\.id)))
        let calls = Set(self.providerCalls.map { "\($0.reference)#\($0.attempt)" })
        let requests = Set(self.requests.map(\.id))
        return TraceRecords(
            requests: self.requests + other.requests.filter { !requests.contains($0.id) },
            handled: self.handled + other.handled.filter { !handled.contains($0.id) },
            jobs: self.jobs + other.jobs.filter { !jobs.contains($0.id) },
            providerCalls: self.providerCalls
                + other.providerCalls.filter { !calls.contains("\($0.reference)#\($0.attempt)") }
        )
    }
}
