import Contracts
import EventLoops
import Foundation
import HTTPTypes
import HummingbirdCore
import Logging
import Messaging
import NIOCore
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import NotificationService

@Suite("Live streams", .serialized)
struct StreamTests {
    private let bola = UserID(clerkSubject: "user_bola")

    /// A reader in memory.
    final class Reader: Sendable {
        private let text = Locked("")
        private let isStuck = Locked(false)

        var received: String { self.text.withLock { $0 } }
        /// The ids of the messages that came, in order.
        var ids: [Int] {
            self.received.components(separatedBy: "\n\n").filter { $0.contains("event: notification") }
                .compactMap { event in
                    event.split(separator: "\n").first { $0.hasPrefix("id: ") }.flatMap { Int($0.dropFirst(4)) }
                }
        }

        func stick() { self.isStuck.withLock { $0 = true } }

        fileprivate func take(_ buffer: ByteBuffer) async throws {
            while self.isStuck.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(5)) }
            self.text.withLock { $0 += String(buffer: buffer) }
        }

        /// What the connection does when it is cut.
        func cut() { self.isStuck.withLock { $0 = false } }
    }

    private struct Writer: ResponseBodyWriter {
        let reader: Reader

        mutating func write(_ buffer: ByteBuffer) async throws { try await self.reader.take(buffer) }
        consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
    }

    private func hub(_ world: NotificationWorld, _ limits: StreamHub.Limits = .init()) -> StreamHub {
        StreamHub(
            limits: limits,
            database: world.work,
            store: StreamStore(),
            logger: Logger(label: "hub") { _ in SwiftLogNoOpLogHandler() }
        )
    }

    /// Streams to a reader until the stream ends.
    private func stream(
        _ world: NotificationWorld,
        _ connection: StreamConnection,
        _ hub: StreamHub,
        to reader: Reader,
        from: Int64? = nil
    ) async throws {
        let body = StreamBody(database: world.requests, inbox: world.inbox, connection: connection, from: from)
        var writer: any ResponseBodyWriter = Writer(reader: reader)
        defer { hub.close(connection) }
        try await body.write(to: &writer)
    }

    @Test("a stream brings what comes, in order and once; one that resumes brings what came meanwhile first")
    func resume() async throws {
        try await withNotification { world in
            let hub = self.hub(world)
            try await world.moneyArrives()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await hub.run() }
                let reader = Reader()
                let connection = try hub.open(world.ada) {}
                group.addTask { try await self.stream(world, connection, hub, to: reader) }
                try await eventually("the stream to begin") { reader.received.contains("event: ready") }
                for _ in 0..<3 { try await world.moneyArrives() }
                try await world.moneyArrives(for: self.bola)
                try await eventually("three messages") { reader.ids == [2, 3, 4] }
                try await eventually("the number of unread ones") { reader.received.contains(#"data: {"unread":4}"#) }
                connection.end()
                try await eventually("the stream to end") { hub.count == 0 }

                for _ in 0..<2 { try await world.moneyArrives() }
                let again = Reader()
                let second = try hub.open(world.ada) {}
                group.addTask { try await self.stream(world, second, hub, to: again, from: 4) }
                try await eventually("what was missed") { again.ids == [5, 6] }
                try await world.moneyArrives()
                try await eventually("what came then") { again.ids == [5, 6, 7] }
                group.cancelAll()
            }
        }
    }

    @Test("what another replica commits is found by the poll, with one question for all who listen")
    func replica() async throws {
        try await withNotification { world in
            let hub = self.hub(world)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await hub.run() }
                let readers = (0..<4).map { _ in Reader() }
                for (index, reader) in readers.enumerated() {
                    let person = index.isMultiple(of: 2) ? world.ada : self.bola
                    let connection = try hub.open(person) {}
                    group.addTask { try await self.stream(world, connection, hub, to: reader) }
                }
                try await eventually("all to begin") { readers.allSatisfy { $0.received.contains("event: ready") } }
                // Past this process, so nothing wakes it.
                try await world.database.psql(
                    """
                    SELECT file_notification('019aa36c-5d5c-7cc5-a5a9-5f3a2f1f0b11', '\(world.ada)', 'money',
                        'wallet.credited', 'Money Received', 'x', NULL, '019aa36c-5d5c-7cc5-a5a9-5f3a2f1f0b12', now())
                    """
                )
                try await eventually("both of Ada's to have it") { readers[0].ids == [1] && readers[2].ids == [1] }
                #expect(readers[1].ids.isEmpty && readers[3].ids.isEmpty)
                group.cancelAll()
            }
        }
    }

    @Test("a client that missed too much is told to read its inbox, and gets what comes then")
    func reset() async throws {
        try await withNotification { world in
            try await world.moneyArrives()
            let beyond = StreamBody.backlogLimit + 5
            try await world.database.psql("UPDATE inboxes SET last_position = \(beyond) WHERE user_id = '\(world.ada)'")
            let hub = self.hub(world)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await hub.run() }
                let reader = Reader()
                let connection = try hub.open(world.ada) {}
                group.addTask { try await self.stream(world, connection, hub, to: reader, from: 0) }
                try await eventually("the word to reset") { reader.received.contains("id: \(beyond)\nevent: reset") }
                try await world.moneyArrives()
                try await eventually("the next message") { reader.ids == [Int(beyond) + 1] }
                group.cancelAll()
            }
        }
    }

    @Test("one stream more than a person may have ends the oldest; more than the process serves are refused")
    func bounded() async throws {
        try await withNotification { world in
            let hub = self.hub(world, StreamHub.Limits(perPerson: 2, perProcess: 3))
            let streams = try (0..<2).map { _ in try hub.open(world.ada) {} }
            _ = try hub.open(world.ada) {}
            #expect(hub.count == 2)
            #expect(await streams[0].next() == .end)
            let other = try hub.open(self.bola) {}
            #expect(throws: NotificationError.tooManyStreams) { try hub.open(self.bola) {} }
            hub.close(other)
            hub.close(other)
            _ = try hub.open(self.bola) {}
            #expect(hub.count == 3)
        }
    }

    @Test("a reader that takes nothing is cut off, and one that is there gets signs of life, until its time is over")
    func slow() async throws {
        try await withNotification { world in
            var limits = StreamHub.Limits()
            limits.times.heartbeat = .milliseconds(200)
            limits.times.lifetime = .seconds(5)
            limits.times.patience = .seconds(2)
            limits.poll = .milliseconds(50)
            let hub = self.hub(world, limits)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await hub.run() }
                let (stuck, good) = (Reader(), Reader())
                let first = try hub.open(world.ada) { stuck.cut() }
                let second = try hub.open(self.bola) { Issue.record("a good reader was cut off") }
                stuck.stick()
                group.addTask { try await self.stream(world, first, hub, to: stuck) }
                group.addTask { try await self.stream(world, second, hub, to: good) }
                try await eventually("the slow one to be gone") { hub.count == 1 }
                try await eventually("the other to end in good order") { hub.count == 0 }
                #expect(good.received.components(separatedBy: ": still here").count >= 3)
                #expect(
                    good.received.hasSuffix("\n\n")
                        && good.received.split(separator: "\n").last?.hasPrefix("retry: ") == true
                )
                group.cancelAll()
            }
        }
    }

    @Test("a stream ends with its token, with its session and with its person's profile, and no other does")
    func ends() async throws {
        try await withNotification { world in
            var limits = StreamHub.Limits()
            limits.poll = .milliseconds(50)
            let hub = self.hub(world, limits)
            let now = Timestamp.text(world.clock.now)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await hub.run() }
                let brief = try hub.open(world.ada, session: "sess_1", for: .seconds(2)) {}
                let over = try hub.open(world.ada, session: "sess_2") {}
                let closed = try hub.open(self.bola, session: "sess_1") {}
                let other = try hub.open(world.ada, session: "sess_1") {}
                for connection in [brief, over, closed, other] {
                    group.addTask { try await self.stream(world, connection, hub, to: Reader()) }
                }
                let listens = { (connection: StreamConnection) in hub.listens(connection) }
                try await world.hear(SessionEnded(userID: world.ada.uuid, sessionID: "sess_2", endedAt: now))
                try await eventually("the session's stream to end") { !listens(over) }
                let closing = UserRestricted(userID: self.bola.uuid, restriction: Open(.closed), reason: "a_test")
                try await world.hear(closing)
                try await eventually("the closed person's stream to end") { !listens(closed) }
                try await eventually("the token's stream to end") { !listens(brief) }
                #expect(listens(other))
                group.cancelAll()
            }
        }
    }

    @Test("who never signed up, has closed, was erased or whose session is over opens no stream")
    func listeners() async throws {
        try await withNotification { world in
            let now = Timestamp.text(world.clock.now)
            let check = { (user: UserID, session: String) in
                try await AccessStore().checkListener(user, session: session, on: world.requests)
            }
            await #expect(throws: NotificationError.notOnboarded) { try await check(world.ada, "sess_1") }
            for (user, name) in [(world.ada, "ada"), (self.bola, "bola")] {
                try await world.hear(UserCreated(userID: user.uuid, username: name, accountType: Open(.personal)))
            }
            try await check(world.ada, "sess_1")
            try await world.hear(SessionEnded(userID: world.ada.uuid, sessionID: "sess_1", endedAt: now), sequence: 2)
            await #expect(throws: NotificationError.sessionEnded) { try await check(world.ada, "sess_1") }
            try await check(world.ada, "sess_2")
            let closing = UserRestricted(userID: world.ada.uuid, restriction: Open(.closed), reason: "a_test")
            try await world.hear(closing, sequence: 3)
            await #expect(throws: NotificationError.profileClosed) { try await check(world.ada, "sess_2") }
            try await world.hear(UserErased(userID: self.bola.uuid), sequence: 2)
            await #expect(throws: NotificationError.erased) { try await check(self.bola, "sess_1") }
        }
    }

    @Test("the clock of a stream: alive, silent, over, stuck, and never asked for")
    func times() {
        let start = ContinuousClock.now
        var times = StreamTimes(.init(), now: start)
        #expect(times.due(at: start.advanced(by: .seconds(9))) == .nothing)
        #expect(times.due(at: start.advanced(by: .seconds(10))) == .abandon)
        times.begin(at: start)
        #expect(times.due(at: start.advanced(by: .seconds(10))) == .abandon)
        times.end(at: start.advanced(by: .seconds(1)))
        #expect(times.due(at: start.advanced(by: .seconds(15))) == .nothing)
        #expect(times.due(at: start.advanced(by: .seconds(16))) == .heartbeat)
        #expect(times.due(at: start.advanced(by: .seconds(600))) == .end)
    }
}
