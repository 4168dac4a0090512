import Contracts
import EventLoops
import Foundation
import Postgres
import Primitives
import TestSupport
import Testing

@testable import Messaging

@Suite("Spans")
struct SpanTests {
    private static let request = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    /// Keeps what it is told.
    private final class Spans: SpanSink {
        private let told = Locked<[Span]>([])

        var all: [Span] { self.told.withLock { $0 } }

        func record(_ span: Span) { self.told.withLock { $0.append(span) } }

        func named(_ name: String) throws -> Span {
            let found = self.all.filter { $0.name == name }
            try #require(found.count == 1, "\(found.count) spans are called \(name)")
            return found[0]
        }
    }

    @Test("from a request over a job and its call to an event and its handler, each span lies below what caused it")
    func chain() async throws {
        let spans = Spans()
        try await Kit.with(spans: spans) { kit in
            let user = UUID()
            let calls = ProviderCallLog<Refusal>(database: kit.events)
            let definition = JobDefinition("pay") { job in
                try await calls.call("create_transfer", "trf-1", of: job) {}
                try await kit.events.transaction(cause: job.cause) { transaction in
                    try await transaction.publish(credited(user, 7), about: UserID(user))
                }
                return .done
            }
            try await kit.events.transaction(cause: Cause(traceparent: Self.request)) { transaction in
                try await transaction.enqueue("pay", key: "1")
            }
            try await Self.run(kit.runner(definition)) { try await Self.awaitDone(1, kit) }
            let sent = try #require(try await kit.text("SELECT traceparent FROM outbox"))
            let event = try incoming(user, 7, trace: sent)
            try await kit.processor(Till().handlers()).process([event, event])

            let job = try spans.named("job pay")
            let call = try spans.named("provider create_transfer")
            let handler = try spans.named("process \(event.attributes.type.rawValue)")
            #expect(job.parent?.text == Self.request)
            #expect(call.parent == job.context && call.kind == .client && call.failure == nil)
            #expect(sent == job.context.text)
            #expect(handler.parent == job.context && handler.kind == .consumer)
            #expect(Set(spans.all.map(\.context.traceID)) == ["4bf92f3577b34da6a3ce929d0e0e4736"])
            #expect(job.attributes["transfa.job.attempt"] == 1 && job.attributes["transfa.job.outcome"] == "done")
        }
    }

    @Test("a handler that is rolled back is not told of, and what it did after a retry is told of once")
    func parked() async throws {
        let spans = Spans()
        try await Kit.with(spans: spans) { kit in
            let (user, till) = (UUID(), Till(refusing: [7]))
            let event = try incoming(user, 7, trace: Self.request)
            try await kit.processor(till.handlers()).process([event])
            #expect(spans.all.isEmpty)
            till.accept(7)
            #expect(try await kit.retry(user, till.handlers()) == .applied(1))
            #expect(try spans.named("process \(event.attributes.type.rawValue)").parent?.text == Self.request)
        }
    }

    @Test("a job that fails says why, one without a trace says nothing, nor does one of a trace that nobody keeps")
    func quiet() async throws {
        let spans = Spans()
        try await Kit.with(spans: spans) { kit in
            let definition = JobDefinition("pay") { job in
                job.key == "hopeless" ? .failed(reason: "no_such_bank") : .done
            }
            let unkept = Self.request.dropLast(2) + "00"
            for (key, trace) in [("hopeless", Self.request), ("alone", nil), ("unkept", String(unkept))] {
                try await kit.events.transaction(cause: Cause(traceparent: trace)) { transaction in
                    try await transaction.enqueue("pay", key: key)
                }
            }
            try await Self.run(kit.runner(definition)) { try await Self.awaitDone(2, kit) }
            try await eventually("the span of the failed job") { !spans.all.isEmpty }
            #expect(try spans.named("job pay").failure == "no_such_bank")
        }
    }

    private struct Refusal: Error, CustomStringConvertible {
        let description = "refused"
    }

    private static func run(_ runner: JobRunner, _ body: () async throws -> Void) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { await runner.run() }
            try await body()
            group.cancelAll()
        }
    }

    private static func awaitDone(_ count: Int, _ kit: Kit) async throws {
        try await eventually("\(count) jobs done") {
            try await kit.number("SELECT count(*) FROM jobs WHERE state = 'done'") == count
        }
    }
}
