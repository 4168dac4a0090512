import Foundation
import Messaging
import Postgres
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import ConsoleService

@Suite("Days of the archive")
struct DayTests {
    private static func id(_ milliseconds: Int64) -> UUID { Date(millisecondsSince1970: milliseconds).firstID }

    private static func name(_ day: Int) -> String {
        "archived_events_\(CivilDate(daysSince1970: day).compact)"
    }

    private static func today(_ world: ConsoleWorld) -> Int {
        Int(world.clock.now.millisecondsSince1970 / 86_400_000)
    }

    @Test(
        "the last millisecond of a day and the first of the next lie in their days, and any other id among the others"
    )
    func edges() async throws {
        try await withConsole { world in
            let today = Self.today(world)
            let midnight = Int64(today) * 86_400_000
            let far = [Self.id(0), Self.id(midnight + 9 * 86_400_000), Self.id(1 << 47)]
            let near = [Self.id(midnight - 1), Self.id(midnight), Self.id(midnight - 20 * 86_400_000)]
            try await world.take(try (near + far).map { try envelope($0) })
            #expect(
                try await world.partitions()
                    == [Self.name(today - 20), Self.name(today - 1), Self.name(today), "archived_events_other"].sorted()
            )
            #expect(try await world.number("SELECT count(*) FROM archived_events_other") == 3)
            for id in near + far { #expect(try await world.reads.event(id)?.id == id) }
        }
    }

    @Test("when the day of events among the others gets a partition, they move there and are not stored again")
    func moving() async throws {
        try await withConsole { world in
            let today = Self.today(world)
            let early = Self.id(Int64(today + 12) * 86_400_000 + 5)
            try await world.take([try envelope(early)])
            #expect(try await world.partitions() == ["archived_events_other"])
            world.clock.advance(by: .seconds(10 * 86_400))
            try await world.work.transaction(cause: Cause()) { try await world.days.makeAhead(in: $0) }
            #expect(try await world.partitions() == [Self.name(today + 12)])
            try await world.take([try envelope(early)], from: 1)
            #expect(try await world.number("SELECT count(*) FROM archived_events") == 1)
        }
    }

    @Test("partitions are made ahead, twice does no harm, and two replicas at once neither")
    func ahead() async throws {
        try await withConsole { world in
            let today = Self.today(world)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        try await world.work.transaction(cause: Cause()) { try await world.days.makeAhead(in: $0) }
                    }
                }
                try await group.waitForAll()
            }
            let days = try await world.store.days(on: world.work).map(\.number)
            #expect(days.contains(today) && days.contains(today + 8) && days == days.sorted())
        }
    }

    @Test("whole days are dropped when their time is over, what has no day by when it was stored, and the rest stays")
    func retention() async throws {
        try await withConsole { world in
            var world = world
            let today = Self.today(world)
            let midnight = Int64(today) * 86_400_000
            let odd = Data("odd".utf8)
            try await world.take(
                try [-29, -10, -3, 0].map { try envelope(Self.id(midnight + $0 * 86_400_000)) }
                    + [try envelope(Self.id(0)), odd]
            )
            world.retention = 5
            try await world.days.dropOld()
            #expect(try await world.number("SELECT count(*) FROM archived_events") == 3)
            #expect(try await world.store.days(on: world.work).map(\.number).min() == today - 3)
            #expect(try await world.reads.status().malformedMessages == 1)

            // An event of a day that is gone still finds a place, and the days ahead go on.
            try await world.take([try envelope(Self.id(midnight - 10 * 86_400_000))], from: 9)
            #expect(try await world.number("SELECT count(*) FROM archived_events_other") == 2)
            world.clock.advance(by: .seconds(6 * 86_400))
            try await world.days.dropOld()
            #expect(try await world.partitions() == [])
            #expect(try await world.reads.status().malformedMessages == 0)
        }
    }

    @Test("a day that somebody reads is dropped later, and does not hold up others for long")
    func held() async throws {
        try await withConsole { world in
            var world = world
            world.retention = 1
            let today = Self.today(world)
            try await world.take([try envelope(Self.id(Int64(today - 1) * 86_400_000))])
            world.clock.advance(by: .seconds(5 * 86_400))
            let held = world
            try await world.work.client.withTransaction { reader in
                _ = try await reader.query("SELECT count(*) FROM archived_events")
                await #expect(throws: PostgresError.self) { try await held.days.dropOld() }
            }
            try await world.days.dropOld()
            #expect(try await world.partitions() == [])
        }
    }
}
