import Contracts
import Foundation
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import NotificationService

@Suite("What people want to hear", .serialized)
struct PreferenceTests {
    private let time = "2026-11-21T01:07:05.123Z"

    private func opened(_ world: NotificationWorld) -> MoneyDropOpened {
        MoneyDropOpened(
            moneyDropID: world.ids.next(),
            creatorID: world.ada.uuid,
            amountPerClaim: 5000,
            slots: 3,
            expiresAt: self.time,
            timestamp: self.time
        )
    }

    @Test("a category that is turned off is not heard there, and elsewhere it is", arguments: [true, false])
    func muted(inApp: Bool) async throws {
        try await withNotification { world in
            try await world.register(String(repeating: "a1", count: 32), of: world.ada)
            let drops = NotificationChannels(inApp: inApp, push: !inApp)
            try await world.change(.init(categories: .init(drops: drops)), of: world.ada)
            let event = self.opened(world)
            let id = world.ids.next()
            try await world.hear(event, id: id)
            try await world.hear(event, id: id)
            #expect(try await world.titles(world.ada.uuid) == (inApp ? ["Money Drop Ready"] : []))
            #expect(try await world.waitingPushes().count == (inApp ? 0 : 1))
            let state = try await world.inbox.state(world.ada, on: world.requests)
            #expect(state.unread == (inApp ? 1 : 0))
            try await world.moneyArrives()
            #expect(try await world.titles(world.ada.uuid).first == "Money Received")
            #expect(try await world.inbox.state(world.ada, on: world.requests).lastPosition == (inApp ? 2 : 1))
        }
    }

    @Test("what is turned off on every channel leaves no row")
    func silence() async throws {
        try await withNotification { world in
            let off = NotificationChannels(inApp: false, push: false)
            try await world.change(.init(categories: .init(drops: off)), of: world.ada)
            try await world.hear(self.opened(world))
            #expect(try await world.database.psql("SELECT count(*) FROM notifications") == ["0"])
        }
    }

    @Test("messages about money and security cannot be turned off, not even past the program")
    func locked() async throws {
        try await withNotification { world in
            let before = try await world.preferences.find(world.ada, on: world.requests)
            for category in NoticeCategory.allCases where category.isAlwaysHeard {
                for channel in NoticeChannel.allCases {
                    let choice = NotificationPreferences.Choice(category: category, channel: channel)
                    let wanted = NotificationChannels(
                        inApp: channel == .inApp ? false : nil,
                        push: channel == .push ? false : nil
                    )
                    let all = NotificationCategories(
                        money: category == .money ? wanted : nil,
                        security: category == .security ? wanted : nil
                    )
                    await #expect(throws: NotificationError.notSuppressible(choice)) {
                        try await world.change(.init(showAmounts: true, categories: all), of: world.ada)
                    }
                    await #expect(throws: (any Error).self) {
                        try await world.database.psql(
                            "INSERT INTO inboxes (user_id, muted) VALUES ('\(world.ada)', '{\(choice.text)}')"
                        )
                    }
                }
            }
            #expect(try await world.preferences.find(world.ada, on: world.requests) == before)
        }
    }

    @Test("what a change leaves out stays as it was")
    func partial() async throws {
        try await withNotification { world in
            let off = NotificationChannels(inApp: false)
            try await world.change(.init(showAmounts: true, categories: .init(requests: off)), of: world.ada)
            let after = try await world.change(.init(categories: .init(drops: .init(push: false))), of: world.ada)
            #expect(after.showsAmounts)
            #expect(Set(after.muted.map(\.text)) == ["requests.in_app", "drops.push"])
            #expect(try await world.preferences.find(world.ada, on: world.requests) == after)
            let bola = UserID(clerkSubject: "user_bola")
            #expect(try await world.preferences.find(bola, on: world.requests) == NotificationPreferences())
            // Amounts do not come to lie open on a locked phone because something else was changed.
            let others = NotificationPreferencesRequest(categories: .init(drops: .init(push: false)))
            #expect(try await !world.change(others, of: bola).showsAmounts)
            try await world.change(.init(showAmounts: false), of: world.ada)
            #expect(try await !world.change(others, of: world.ada).showsAmounts)
        }
    }
}
