import Contracts
import Foundation
import Messaging
import Postgres
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import ConsoleService

@Suite("The archive")
struct ArchiveTests {
    @Test("an event is stored once, however often and in whatever company it comes")
    func once() async throws {
        try await withConsole { world in
            let events = try (0..<50).map { _ in try envelope() }
            let epoch = try await world.takeOver().epoch
            try await world.take(events + events, epoch: epoch)
            try await world.take(Array(events.reversed()), from: 100, epoch: epoch)
            #expect(try await world.bodies() == events.map { String(decoding: $0, as: UTF8.self) })
            #expect(try await world.number("SELECT count(DISTINCT position) FROM archived_events") == 50)
            let status = try await world.reads.status()
            #expect(status.streamOffset == 149 && status.malformedMessages == 0 && status.newestTime != nil)
        }
    }

    @Test("only the last reader that took over can store; nothing of the first one is left")
    func superseded() async throws {
        try await withConsole { world in
            let first = try await world.takeOver().epoch
            try await world.take([try envelope()], epoch: first)
            let (second, beginning) = try await world.takeOver()
            #expect(beginning != .never)
            await #expect(throws: ArchiveStore.Superseded.self) {
                try await world.take([try envelope()], from: 1, epoch: first)
            }
            #expect(try await world.number("SELECT count(*) FROM archived_events") == 1)
            try await world.take([try envelope()], from: 1, epoch: second)
            #expect(try await world.number("SELECT count(*) FROM archived_events") == 2)
        }
    }

    @Test("what is no event is kept as it is, once, and its neighbours are stored")
    func odd() async throws {
        try await withConsole { world in
            let good = try (0..<6).map { _ in try envelope() }
            let nul = Data([0x7b, 0, 0x7d])
            try await world.take([good[0], Data("{".utf8), good[1], nul, good[2], nul])
            #expect(try await world.number("SELECT count(*) FROM archived_events") == 3)
            let kept = try await world.database.psql(
                "SELECT stream_offset, reason, size, encode(body, 'hex') FROM malformed_messages ORDER BY stream_offset"
            )
            #expect(kept == ["1|not_an_envelope|1|7b", "3|not_text|3|7b007d"])
        }
    }

    @Test("an event of another's kind, and one that came by another's key, are kept aside: nobody can replay them")
    func forged() async throws {
        try await withConsole { world in
            let (subject, good) = (UUID().lowercased, try envelope())
            let stolen = try envelope(type: "device.registered", source: "subscription", subject: subject)
            let misrouted = try envelope(type: "device.registered", subject: subject)
            let key = Topology.routingKey(type: "subscription.activated", subject: subject)
            let entries =
                ConsoleWorld.entries([good, stolen], from: 7)
                + [EventLogEntry(offset: 9, isFirst: false, routingKey: key, body: Array(misrouted))]
            try await world.entries(entries, epoch: try await world.takeOver().epoch)
            #expect(try await world.bodies() == [String(decoding: good, as: UTF8.self)])
            let kept = try await world.database.psql(
                "SELECT stream_offset, reason FROM malformed_messages ORDER BY stream_offset"
            )
            #expect(kept == ["8|wrong_source", "9|wrong_key"])
        }
    }

    @Test("an event that the database refuses is found among its neighbours and kept as it is")
    func refused() async throws {
        try await withConsole { world in
            try await world.database.psql(
                "ALTER TABLE archived_events ADD CHECK (subject <> 'refused') NOT VALID"
            )
            var events = try (0..<9).map { _ in try envelope() }
            events.insert(try envelope(subject: "refused"), at: 5)
            try await world.take(events, from: 20)
            #expect(try await world.number("SELECT count(*) FROM archived_events") == 9)
            let kept = try await world.database.psql("SELECT stream_offset, reason FROM malformed_messages")
            #expect(kept == ["25|refused_by_database"])
            #expect(try await world.reads.status().streamOffset == 29)
        }
    }

    @Test("neither role can change or delete an event, or drop a day by itself")
    func rights() async throws {
        try await withConsole { world in
            try await world.take([try envelope()])
            for role in [TestDatabase.Role.handler, .worker] {
                for sql in [
                    "DELETE FROM archived_events", "UPDATE archived_events SET body = ''", "TRUNCATE archived_events",
                    "DROP TABLE archived_events_other", "DELETE FROM malformed_messages",
                ] {
                    await #expect(throws: TestFailure.self) { try await world.database.psql(sql, as: role) }
                }
            }
            await #expect(throws: TestFailure.self) {
                try await world.database.psql("CALL drop_archive_day(20000)", as: .handler)
            }
            #expect(try await world.number("SELECT count(*) FROM archived_events") == 1)
        }
    }

    @Test("lists can be cut by time, kind, subject, correlation and cause, and paged without holes")
    func lists() async throws {
        try await withConsole { world in
            let (correlation, causation) = (UUID(), UUID())
            let old = try (0..<20).map { _ in try envelope(id(after: .seconds(-7200)), type: "user.created") }
            let new = try (0..<20).map { number in
                try envelope(
                    subject: "s\(number % 2)",
                    correlation: number < 5 ? correlation : nil,
                    causation: number < 3 ? causation : nil
                )
            }
            try await world.take(old + new)
            let reads = world.reads
            var page: [StoredEvent] = []
            var before = UUID(uuid: (255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255))
            repeat {
                let more = try await reads.page(EventFilter(), before: before, limit: 7)
                page += more
                if more.count < 7 { break }
                before = more[6].id
            } while true
            #expect(page.map(\.id.uuidString) == page.map(\.id.uuidString).sorted(by: >) && page.count == 40)

            let hour = Date(timeIntervalSinceNow: -3600).firstID
            let filters: [(EventFilter, Int)] = [
                (EventFilter(first: hour), 20), (EventFilter(end: hour), 20), (EventFilter(type: "user.created"), 20),
                (EventFilter(source: "auth"), 20), (EventFilter(subject: "s1"), 10),
                (EventFilter(correlation: correlation), 5), (EventFilter(causation: causation), 3),
                (EventFilter(first: hour, type: "user.created"), 0),
                (EventFilter(subject: "s0", correlation: correlation), 3),
            ]
            for (filter, count) in filters {
                #expect(try await reads.page(filter, before: id(after: .seconds(60)), limit: 100).count == count)
                let scanned = try await reads.scan(filter, after: 0, upTo: .max, limit: 100)
                #expect(scanned.count == count && scanned.map(\.position) == scanned.map(\.position).sorted())
            }
        }
    }

    @Test("the feed gives everything once in the order of storing, and wakes for what comes later")
    func feed() async throws {
        try await withConsole { world in
            let feed = ReadFeed(reads: world.reads)
            let epoch = try await world.takeOver().epoch
            // Older ids that come later are not overlooked.
            let events = try (0..<30).map { try envelope(id(after: .seconds(-$0))) }
            try await world.take(Array(events[..<20]), epoch: epoch)
            var seen: [String] = []
            var position: Int64 = 0
            for _ in 0..<3 {
                let page = try await feed(EventFilter(), after: position, limit: 8, waiting: .zero)
                seen += page.events.map(\.body)
                position = page.position
            }
            #expect(seen.count == 20)
            try await withThrowingTaskGroup(of: ReadFeed.Page.self) { [position] group in
                group.addTask { try await feed(EventFilter(), after: position, limit: 100, waiting: .seconds(20)) }
                try await world.take(Array(events[20...]), from: 20, epoch: epoch)
                for try await page in group { seen += page.events.map(\.body) }
            }
            #expect(seen == events.map { String(decoding: $0, as: UTF8.self) })
            let end = try await feed(EventFilter(type: "nothing"), after: 0, limit: 10, waiting: .zero)
            #expect(end.events.isEmpty && end.position == 30)
        }
    }

    @Test("a trace follows a payment from the order over the provider's webhook to the end, from any of its ids")
    func trace() async throws {
        try await withConsole { world in
            let (transfer, request, webhook, job, user) = (UUID(), UUID(), UUID(), UUID(), UUID())
            let made = (0..<5).map { _ in ids.next() }
            let body = #"{"transaction_id":"\#(transfer.lowercased)","anchor_transfer_id":"anc-1"}"#
            try await world.take([
                try envelope(made[0], subject: transfer.lowercased, correlation: request, causation: request),
                try envelope(
                    made[1],
                    type: "external_slot.taken",
                    subject: user.lowercased,
                    correlation: request,
                    causation: request,
                    data: body
                ),
                try envelope(
                    made[2],
                    type: "provider.transfer_updated",
                    source: "notification",
                    subject: "trf-\(transfer.lowercased)",
                    correlation: webhook,
                    causation: webhook,
                    data: body
                ),
                try envelope(
                    made[3],
                    type: "transaction.completed",
                    subject: transfer.lowercased,
                    sequence: 2,
                    correlation: webhook,
                    causation: made[2]
                ),
                try envelope(made[4], type: "user.restricted", subject: user.lowercased, causation: job),
            ])
            let trace = TraceEvents(reads: world.reads)
            let keys = [
                transfer.uuidString, request.lowercased, webhook.lowercased, "trf-\(transfer.lowercased)", "anc-1",
            ]
            for key in keys + made[..<4].map(\.lowercased) {
                let found = try await trace(try #require(TraceKey(key)))
                #expect(found.events.map(\.id) == Array(made[..<4]) && found.isComplete, "\(key)")
                let tree = CausalTree(found.events.map { TraceStep($0) })
                #expect(tree.branches.map(\.correlationID) == [request, webhook])
                #expect(tree.branches[1].roots.map(\.step.id) == [made[2].lowercased])
                #expect(tree.branches[1].roots[0].children.map(\.step.id) == [made[3].lowercased])
            }
            #expect(try await trace(try #require(TraceKey(UUID().lowercased))).events.isEmpty)
        }
    }
}
