import Contracts
import EventLoops
import Foundation
import Postgres
import Primitives
import TestSupport
import Testing

@testable import Messaging

@Suite("Handling batches")
struct BatchTests {
    @Test("an event made before midnight and repeated after it takes effect once")
    func midnight() async throws {
        try await Kit.with { kit in
            let user = UUID()
            let processor = kit.processor(Till().handlers())
            let yesterday = try incoming(user, 1, id: id(after: .seconds(-86_400)))
            let today = try incoming(user, 2)
            let tomorrow = try incoming(user, 3, id: id(after: .seconds(86_400)))
            try await processor.process([yesterday, today])
            try await processor.process([today, yesterday, tomorrow, tomorrow])
            try await processor.process([tomorrow])
            #expect(try await kit.effects(of: user) == [1, 2, 3])
            #expect(try await kit.number("SELECT count(DISTINCT day) FROM inbox") == 3)
        }
    }

    @Test("what a batch needs is prepared once, before its first event, without what waits behind a parked one")
    func prepared() async throws {
        try await Kit.with { kit in
            let till = Till(refusing: [1])
            let (parked, user) = (UUID(), UUID())
            let prepared = Locked<[String]>([])
            var handlers = till.handlers { amount in prepared.withLock { $0.append("handled \(amount)") } }
            handlers.before { batch, transaction in
                let amounts = batch.all(WalletCredited.self).map(\.data.amount)
                prepared.withLock { $0.append("before \(amounts)") }
                try await transaction.stage("INSERT INTO effects (user_id, amount) VALUES (\(user), 100)")
            }
            try await kit.processor(handlers).process([incoming(parked, 1)])
            prepared.withLock { $0 = [] }
            let batch = [try incoming(user, 2), try incoming(parked, 3), try incoming(user, 4)]
            for _ in 0..<2 { try await kit.processor(handlers).process(batch) }
            #expect(prepared.withLock { $0 } == ["before [2, 4]", "handled 2", "handled 4"])
            #expect(try await kit.effects(of: user) == [100, 2, 4])
        }
    }

    @Test("an event from before or after the days that the inbox remembers is parked, with what follows it")
    func beyondWindow() async throws {
        try await Kit.with { kit in
            let (old, early, other) = (UUID(), UUID(), UUID())
            let till = Till()
            let stale = try incoming(old, 1, id: id(after: .seconds(-40 * 86_400)))
            let batch = [
                stale, try incoming(old, 2), try incoming(other, 3),
                try incoming(early, 4, id: id(after: .seconds(400 * 86_400))),
            ]
            try await kit.processor(till.handlers()).process(batch)
            // Delivered again it is still parked once.
            try await kit.processor(till.handlers()).process([stale])
            #expect(till.seen == [3])
            let reasons = try await kit.texts("SELECT reason FROM parked_events ORDER BY position")
            #expect(reasons == ["beyond_dedupe_window", "behind_parked_event", "beyond_dedupe_window"])
            #expect(
                try await kit.texts("SELECT error FROM parked_tries") == [
                    "beyond_dedupe_window", "beyond_dedupe_window",
                ]
            )
            #expect(try await kit.retry(old, till.handlers()) == .applied(2))
            #expect(try await kit.effects(of: old) == [1, 2])
        }
    }

    @Test("an event of a day that was dropped since the last batch is parked, and its neighbours are not")
    func dayDropped() async throws {
        try await Kit.with { kit in
            let (old, other) = (UUID(), UUID())
            let processor = kit.processor(Till().handlers())
            let kept = Duration.seconds(-86_400)
            let dropped = Duration.seconds(-2 * 86_400)
            try await processor.process([try incoming(old, 1, id: id(after: dropped)), try incoming(other, 2)])
            try await kit.execute("CALL drop_partitions((now() AT TIME ZONE 'UTC')::date - 1)")
            // Alone: in company the events would be tried one by one anyway.
            try await processor.process([try incoming(old, 4, id: id(after: dropped))])
            try await processor.process([try incoming(other, 3, id: id(after: kept)), try incoming(other, 5)])
            #expect(try await kit.effects(of: old) == [1])
            #expect(try await kit.effects(of: other) == [2, 3, 5])
            #expect(try await kit.texts("SELECT reason FROM parked_events") == ["beyond_dedupe_window"])
        }
    }

    @Test("a batch finds what it knows by key, and never reads a day of the inbox from end to end")
    func noScan() async throws {
        try await Kit.with { kit in
            var handlers = EventHandlers()
            handlers.on(WalletCredited.self) { _, transaction in
                // Else the server counts what this connection has read a second later.
                try await transaction.stage("SELECT pg_stat_force_next_flush()")
            }
            let processor = kit.processor(handlers)
            // More batches than the server plans one by one, into a day without statistics.
            for batch in 0..<12 {
                try await processor.process(try (0..<50).map { try incoming(UUID(), Int64(batch * 50 + $0)) })
            }
            #expect(try await kit.number("SELECT count(*) FROM inbox") == 600)
            let read: SQL = """
                SELECT sum(seq_tup_read)::bigint FROM pg_stat_user_tables WHERE relname LIKE 'inbox%'
                """
            let before = try await kit.number(read)
            try await processor.process([try incoming(UUID(), 600)])
            #expect(try await kit.number(read) == before)
            let looked: SQL = "SELECT sum(idx_scan)::bigint FROM pg_stat_user_tables WHERE relname LIKE 'inbox%'"
            #expect(try await kit.number(looked) >= 600)
        }
    }

    @Test("an unknown major version, and data of another form, are parked")
    func unknownVersion() async throws {
        try await Kit.with { kit in
            let (new, odd) = (UUID(), UUID())
            let till = Till()
            let text = String(decoding: try envelope(odd, 7), as: UTF8.self)
            let misshapen = Data(text.replacingOccurrences(of: "\"amount\":7", with: "\"amount\":\"7\"").utf8)
            let batch = [try incoming(new, 1, version: 2), try #require(IncomingEvent(body: misshapen))]
            try await kit.processor(till.handlers()).process(batch)
            #expect(till.seen == [])
            let reasons = try await kit.texts("SELECT reason FROM parked_events ORDER BY position")
            #expect(reasons == ["unknown_version", "undecodable_data"])
            #expect(try await kit.number("SELECT count(*) FROM inbox WHERE outcome = 'parked'") == 2)
        }
    }

    @Test("two consumers with the same batch at once: each event takes effect once")
    func rivals() async throws {
        try await Kit.with { kit in
            let users = (0..<4).map { _ in UUID() }
            let batch = try (0..<100).map { try incoming(users[$0 % 4], Int64($0)) }
            try await withThrowingDiscardingTaskGroup { group in
                for _ in 0..<3 {
                    group.addTask { try await kit.processor(Till().handlers()).process(batch) }
                }
            }
            for user in users { #expect(try await kit.effects(of: user).count == 25) }
            #expect(try await kit.number("SELECT count(*) FROM parked_events") == 0)
        }
    }

    @Test("a pool without a free connection delays a batch and parks nothing")
    func exhaustedPool() async throws {
        try await Kit.with { kit in
            var configuration = try PostgresConfiguration(url: kit.database.workerURL)
            configuration.leasedConnections = 1
            configuration.leaseTimeout = .milliseconds(50)
            let client = PostgresClient(configuration: configuration, logger: quiet)
            let narrow = EventDatabase(client: client, tools: kit.events.tools, committed: kit.committed)
            let user = UUID()
            let batch = [try incoming(user, 1), try incoming(user, 2)]
            let till = Till()
            try await withThrowingDiscardingTaskGroup { group in
                group.addTask { await client.run() }
                try await eventually("a connection") { client.isConnected }
                try await withThrowingDiscardingTaskGroup { work in
                    try await client.withConnection { _ in
                        work.addTask {
                            try await BatchProcessor(handlers: till.handlers(), database: narrow, logger: quiet)
                                .process(batch)
                        }
                        // Several deadlines pass for the batch.
                        try await Task.sleep(for: .milliseconds(400))
                    }
                }
                group.cancelAll()
            }
            #expect(try await kit.effects(of: user) == [1, 2])
            #expect(try await kit.number("SELECT count(*) FROM parked_events") == 0)
        }
    }

    @Test("a backend that ends within a batch has it repeated, and ends neither process nor event")
    func backendEnds() async throws {
        try await Kit.with { kit in
            let user = UUID()
            let ended = Locked<Set<Int64>>([])
            var handlers = EventHandlers()
            handlers.on(WalletCredited.self) { event, transaction in
                let amount = event.data.amount
                try await transaction.stage("INSERT INTO effects (user_id, amount) VALUES (\(user), \(amount))")
                // The server says goodbye after the statement: among the answers, or where the end of a pipeline is due.
                guard ended.withLock({ $0.insert(amount).inserted }) else { return }
                let ending: SQL = "SELECT pg_terminate_backend(pg_backend_pid())"
                if amount.isMultiple(of: 2) {
                    try await transaction.query(ending)
                } else {
                    try await transaction.stage(ending)
                }
            }
            for amount in 0..<20 { try await kit.processor(handlers).process([try incoming(user, Int64(amount))]) }
            #expect(try await kit.effects(of: user) == Array(0..<20))
            #expect(try await kit.number("SELECT count(*) FROM parked_events") == 0)
        }
    }
}
