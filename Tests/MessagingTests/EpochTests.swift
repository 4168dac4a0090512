import EventLoops
import Foundation
import Postgres
import TestSupport
import Testing

@testable import Messaging

/// A database that can be renamed and silenced, and counts how often it was asked.
private final class Named: Sendable {
    struct Silence: Error {}

    private let name: Locked<String?>
    private let count = Locked(0)

    init(_ name: String?) { self.name = Locked(name) }

    var questions: Int { self.count.withLock { $0 } }

    func rename(_ name: String?) { self.name.withLock { $0 = name } }

    /// What it says, or how it fails.
    func answer() throws -> String {
        self.count.withLock { $0 += 1 }
        guard let name = self.name.withLock({ $0 }) else { throw Silence() }
        return name
    }
}

@Suite("What a database is called", .timeLimit(.minutes(5)))
struct EpochTests {
    @Test("an answer is believed for its time, counted from the question, and then asked for again")
    func belief() async throws {
        let start = ContinuousClock.now
        let (database, moment) = (Named("one"), Locked(start))
        let epoch = DatabaseEpoch(
            asking: {
                // The answer takes a minute.
                moment.withLock { $0 += .seconds(60) }
                return try database.answer()
            },
            lifetime: .seconds(600),
            now: { moment.withLock { $0 } }
        )
        #expect(await epoch.current() == "one")
        database.rename("two")
        moment.withLock { $0 = start + .seconds(599) }
        #expect(await epoch.current() == "one")
        #expect(database.questions == 1)
        moment.withLock { $0 = start + .seconds(600) }
        #expect(await epoch.current() == "two")
        #expect(database.questions == 2)
    }

    @Test("a database that does not answer has no name, and nobody waits for it again before its time")
    func silent() async throws {
        let start = ContinuousClock.now
        let (database, moment) = (Named(nil), Locked(start))
        let epoch = DatabaseEpoch(
            asking: {
                // It takes a minute to fail.
                moment.withLock { $0 += .seconds(60) }
                return try database.answer()
            },
            lifetime: .seconds(600),
            now: { moment.withLock { $0 } }
        )
        #expect(await epoch.current() == nil)
        database.rename("one")
        moment.withLock { $0 = start + .seconds(659) }
        #expect(await epoch.current() == nil)
        #expect(database.questions == 1)
        moment.withLock { $0 = start + .seconds(660) }
        #expect(await epoch.current() == "one")
        #expect(database.questions == 2)
    }

    @Test("nobody waits for an answer longer than it would be believed")
    func slow() async throws {
        let epoch = DatabaseEpoch(
            asking: {
                try await Task.sleep(for: .seconds(3_600))
                return "one"
            },
            lifetime: .milliseconds(50)
        )
        #expect(await epoch.current() == nil)
    }

    @Test("of many who want to know at once one asks, and all get the answer")
    func together() async throws {
        let (database, released) = (Named("one"), WakeSignal())
        let epoch = DatabaseEpoch(
            asking: {
                let name = try database.answer()
                await released.wait(after: 0, upTo: .seconds(300))
                return name
            },
            lifetime: .seconds(600)
        )
        let names = try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<20 { group.addTask { await epoch.current() } }
            try await eventually("the question") { database.questions == 1 }
            released.wake()
            return try await group.reduce(into: [String?]()) { $0.append($1) }
        }
        #expect(names == Array(repeating: "one", count: 20))
        #expect(database.questions == 1)
    }

    @Test("when the one who asks goes away, another asks in his place")
    func abandoned() async throws {
        let database = Named("one")
        let epoch = DatabaseEpoch(
            asking: {
                let name = try database.answer()
                // The first question has no answer before it is given up.
                if database.questions == 1 { try await Task.sleep(for: .seconds(3_600)) }
                return name
            },
            lifetime: .seconds(600)
        )
        try await withThrowingDiscardingTaskGroup { group in
            let first = Task { await epoch.current() }
            try await eventually("the question") { database.questions == 1 }
            let name = Locked<String?>(nil)
            group.addTask {
                let found = await epoch.current()
                name.withLock { $0 = found }
            }
            first.cancel()
            #expect(await first.value == nil)
            try await eventually("the other's answer") { name.withLock { $0 } == "one" }
        }
        #expect(database.questions == 2)
    }

    @Test("a database keeps its name while it is written, and loses it with its inbox")
    func real() async throws {
        try await Kit.with { kit in
            let name = try await kit.text("SELECT database_epoch()")
            // A machine that stands still for a second has no answer in time.
            let before = try await eventually("a name") { await DatabaseEpoch(kit.client).current() }
            #expect(before == name)
            try await kit.processor(Till().handlers()).process([try incoming(UUID(), 1)])
            #expect(try await kit.text("SELECT database_epoch()") == name)
            try await kit.database.psql("TRUNCATE inbox", as: .owner)
            let after = try await eventually("another name") { await DatabaseEpoch(kit.client).current() }
            #expect(after != name)
        }
    }
}
