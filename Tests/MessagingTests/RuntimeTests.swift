import AMQP
import Contracts
import EventLoops
import Foundation
import Postgres
import Primitives
import ServiceLifecycle
import TestSupport
import Testing

@testable import Messaging

@Suite("A whole service")
struct RuntimeTests {
    @Test("what it hears becomes jobs; told to stop, it finishes the job under way and then ends")
    func shutdown() async throws {
        try await Kit.with { kit in
            try await withTestVhost { vhost in
                let broker = try Broker.configuration(vhost.url)
                let started = Locked(false)
                let released = WakeSignal()
                let runtime = try Self.runtime(kit, broker) { job in
                    started.withLock { $0 = true }
                    await released.wait(after: 0, upTo: .seconds(30))
                    try await kit.events.transaction(cause: job.cause) { transaction in
                        try await transaction.stage("INSERT INTO effects (amount) VALUES (7)")
                    }
                    return .done
                }
                let group = ServiceGroup(services: [runtime], logger: quiet)
                try await withThrowingDiscardingTaskGroup { tasks in
                    tasks.addTask { try await group.run() }
                    try await eventually("its queue") { try await Broker.length(Broker.queue, broker) == 0 }
                    try await Broker.send([try envelope(UUID(), 7)], broker)
                    try await eventually("the job") { started.withLock { $0 } }
                    await group.triggerGracefulShutdown()
                    try await eventually("the consumer's end") {
                        try await AMQPAdmin.withConnection(broker, logger: quiet) {
                            try await $0.passiveDeclare(Broker.queue).consumers == 0
                        }
                    }
                    released.wake()
                }
                #expect(try await kit.text("SELECT state FROM jobs") == "done")
                #expect(try await kit.number("SELECT count(*) FROM effects") == 1)
            }
        }
    }

    @Test("told to stop while its workers sleep, it ends at once")
    func shutdownWhileIdle() async throws {
        try await Kit.with { kit in
            try await withTestVhost { vhost in
                let broker = try Broker.configuration(vhost.url)
                let runtime = try Self.runtime(kit, broker) { _ in .done }
                let group = ServiceGroup(services: [runtime], logger: quiet)
                let told = Locked(ContinuousClock.now)
                try await withThrowingDiscardingTaskGroup { tasks in
                    tasks.addTask { try await group.run() }
                    try await eventually("its consumer") {
                        try await AMQPAdmin.withConnection(broker, logger: quiet) {
                            try await $0.passiveDeclare(Broker.queue).consumers == 1
                        }
                    }
                    told.withLock { $0 = .now }
                    await group.triggerGracefulShutdown()
                }
                // They sleep for ten seconds.
                #expect(ContinuousClock.now - told.withLock { $0 } < .seconds(8))
            }
        }
    }

    private static func runtime(
        _ kit: Kit,
        _ broker: AMQPConfiguration,
        _ job: @escaping @Sendable (Job) async throws -> JobOutcome
    ) throws -> MessagingRuntime {
        MessagingRuntime(
            service: .transaction,
            requests: kit.client,
            work: kit.client,
            broker: broker,
            management: nil,
            clock: SystemClock(),
            ids: UUIDv7Source(),
            logger: quiet
        ) { _, _ in
            var handlers = EventHandlers()
            handlers.on(WalletCredited.self) { event, transaction in
                try await transaction.enqueue("count", key: event.attributes.id.lowercased)
            }
            handlers.ignore(EventCatalogue.types(consumedBy: .transaction))
            return MessagingRuntime.Plan(handlers: handlers, jobs: [JobDefinition("count", run: job)])
        }
    }
}
