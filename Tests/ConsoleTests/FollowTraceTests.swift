import Contracts
import Foundation
import Messaging
import Primitives
import TestSupport
import Testing

@testable import ConsoleService

@Suite("Traces of everything")
struct FollowTraceTests {
    /// Services that know what a test says; the others do not answer.
    private struct MadeUpPeers: TracePeers {
        let known: [ServiceName: String]

        func records(of service: ServiceName, _ question: TraceQuestion) async throws -> TraceRecords? {
            guard let json = self.known[service] else { return nil }
            let all = try JSONDecoder().decode(TraceRecords.self, from: Data(json.utf8))
            let (ids, jobs) = (Set(question.correlations), Set(question.jobs))
            return TraceRecords(
                requests: all.requests.filter { ids.contains($0.id) },
                handled: all.handled.filter { $0.correlationID.map(ids.contains) ?? false },
                jobs: all.jobs.filter { $0.correlationID.map(ids.contains) ?? false || jobs.contains($0.id) },
                providerCalls: all.providerCalls.filter {
                    $0.correlationID.map(ids.contains) ?? false || question.references.contains($0.reference)
                }
            )
        }
    }

    private struct Story {
        let transfer = UUID().lowercased
        let request = UUID()
        let job = UUID()
        let created = ids.next()
        let completed = ids.next()

        var events: [Data] {
            get throws {
                [
                    try envelope(self.created, subject: self.transfer, correlation: self.request),
                    try envelope(
                        self.completed,
                        type: "transaction.completed",
                        subject: self.transfer,
                        sequence: 2,
                        correlation: self.request,
                        causation: self.job
                    ),
                ]
            }
        }

        /// What transaction knows: the request, the job and its call.
        var transaction: String {
            """
            {"requests":[{"id":"\(self.request.lowercased)","method":"POST","route":"/transactions/p2p","status":202,
                "started_at":"2026-11-21T01:07:05.120000+00:00","microseconds":9200,
                "traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}],
             "handled":[],
             "jobs":[{"id":"\(self.job.lowercased)","kind":"submit_transfer","key":"\(self.transfer)","state":"done",
                "due_at":"2026-11-21T01:07:05+00:00","attempts":2,"correlation_id":"\(self.request.lowercased)",
                "created_at":"2026-11-21T01:07:05.125+00:00","finished_at":"2026-11-21T01:07:06.125+00:00",
                "runs":[{"attempt":1,"outcome":"again","error":"unavailable"}]}],
             "provider_calls":[{"reference":"trf-\(self.transfer)","attempt":1,"operation":"create_transfer",
                "started_at":"2026-11-21T01:07:05.5+00:00","ended_at":"2026-11-21T01:07:05.75+00:00","outcome":"accepted",
                "correlation_id":"\(self.request.lowercased)"}]}
            """
        }

        /// What analytics knows: it has handled the end.
        var analytics: String {
            """
            {"requests":[],"jobs":[],"provider_calls":[],"handled":[{"id":"\(self.completed.lowercased)",
                "type":"transaction.completed","outcome":"handled","microseconds":700,
                "handled_at":"2026-11-21T01:07:07+00:00","correlation_id":"\(self.request.lowercased)"}]}
            """
        }
    }

    private static func follow(_ world: ConsoleWorld, _ known: [ServiceName: String]) -> FollowTrace {
        FollowTrace(events: TraceEvents(reads: world.reads), reads: world.reads, peers: MadeUpPeers(known: known))
    }

    /// Steps in parentheses under what caused them.
    private static func text(_ nodes: [CausalTree.Node]) -> String {
        nodes.map { node in
            let (step, inner) = (node.step, self.text(node.children))
            let place = step.kind == .handler ? "\(step.service ?? "?"):\(step.state)" : step.name
            return place + (inner.isEmpty ? "" : "(\(inner))")
        }.joined(separator: " ")
    }

    @Test("request, events, handlings, job and call stand under what caused them, from any id; who is silent is named")
    func story() async throws {
        try await withConsole { world in
            let story = Story()
            try await world.take(try story.events)
            let follow = Self.follow(world, [.transaction: story.transaction, .analytics: story.analytics])
            let keys = [
                story.transfer, story.request.lowercased, story.job.lowercased, story.created.lowercased,
                "trf-\(story.transfer)",
            ]
            let silent = ServiceName.allCases.map(\.rawValue).filter { !["transaction", "analytics"].contains($0) }
                .sorted()
            for key in keys {
                let asked = try #require(TraceKey(key))
                let trace = try #require(try await follow(asked))
                #expect(trace.isComplete && trace.unreachable == silent, "\(key)")
                let branch = try #require(trace.branches.first)
                #expect(trace.branches.count == 1 && branch.correlationID == story.request)
                #expect(branch.traceID == "4bf92f3577b34da6a3ce929d0e0e4736")
                let text = Self.text(branch.roots)
                let end = "transaction.completed(analytics:handled)"
                #expect(
                    text == "POST /transactions/p2p(submit_transfer(create_transfer \(end)) transaction.created)",
                    "\(key)"
                )
            }
        }
    }

    @Test("what has no record is said to have none: a request, a handling, an event that the archive lacks")
    func withoutRecord() async throws {
        try await withConsole { world in
            let story = Story()
            try await world.take([try story.events[0]])
            let none = #"{"requests":[],"handled":[],"jobs":[],"provider_calls":[]}"#
            let follow = Self.follow(world, [.notification: none, .analytics: story.analytics])
            let asked = try #require(TraceKey(story.transfer))
            let trace = try #require(try await follow(asked))
            let roots = trace.branches.flatMap(\.roots)
            #expect(roots.contains { $0.step.kind == .request && $0.step.state == "not_recorded" })
            let text = Self.text(roots)
            #expect(text.contains("transaction.completed(analytics:handled)"))
            let states = roots.flatMap { [$0] + $0.children }.map(\.step.state)
            #expect(states.contains("not_archived"))
            let nobodys = try #require(TraceKey(UUID().lowercased))
            #expect(try await follow(nobodys) == nil)
        }
    }

    @Test("a request that was refused is a trace of one step")
    func refused() async throws {
        try await withConsole { world in
            let story = Story()
            let refused = story.transaction.replacing(#""status":202"#, with: #""status":403"#)
            let follow = Self.follow(world, [.transaction: refused])
            let asked = try #require(TraceKey(story.request.lowercased))
            let trace = try #require(try await follow(asked))
            #expect(trace.branches.first?.roots.first?.step.state == "403")
        }
    }
}
