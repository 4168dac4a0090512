import Contracts
import Foundation
import Messaging
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import NotificationService

@Suite("Pushes", .serialized)
struct PushTests {
    private let bola = UserID(clerkSubject: "user_bola")
    private let phone = String(repeating: "a1", count: 32)
    private let tablet = String(repeating: "b2", count: 32)

    @Test("every phone of the person hears of an event once, however often the event comes")
    func once() async throws {
        try await withNotification { world in
            try await world.register(self.phone, of: world.ada)
            try await world.register(self.tablet, of: world.ada)
            let id = world.ids.next()
            for _ in 0..<3 { try await world.moneyArrives(id: id) }
            let waiting = try await world.waitingPushes()
            #expect(waiting.count == 2)
            for key in waiting { #expect(try await world.push(key) == .done) }
            #expect(Set(world.apple.messages.map(\.token)) == [self.phone, self.tablet])
            #expect(Set(world.apple.messages.map(\.id)).count == 2)
            #expect(Set(world.apple.messages.map(\.notificationID)).count == 1)
        }
    }

    @Test("a push that is sent again has the same id, and says amounts only to those who asked for them")
    func repeated() async throws {
        try await withNotification { world in
            try await world.register(self.phone, of: world.ada)
            try await world.moneyArrives()
            let key = try await world.waitingPushes()[0]
            world.apple.answer(.later(reason: "apns_500", after: nil))
            #expect(try await world.push(key) == .again(reason: "apns_500", after: nil))
            try await world.change(.init(showAmounts: true), of: world.ada)
            #expect(try await world.push(key) == .done)
            let sent = world.apple.messages
            #expect(sent.count == 2 && sent[0].id == sent[1].id)
            #expect(sent.map(\.body) == ["You received money.", "₦1,234.50 arrived in your wallet."])
            #expect(sent.allSatisfy { $0.unread == 1 && $0.isUrgent && $0.title == "Money Received" })
        }
    }

    @Test("a message of yesterday is not pushed any more, and neither is one that is gone")
    func old() async throws {
        try await withNotification { world in
            try await world.register(self.phone, of: world.ada)
            try await world.moneyArrives()
            try await world.moneyArrives()
            let keys = try await world.waitingPushes()
            world.clock.advance(by: .seconds(24 * 3600 + 1))
            #expect(try await world.push(keys[0]) == .cancelled(reason: "too_old"))
            try await world.hear(UserErased(userID: world.ada.uuid))
            #expect(try await world.push(keys[1]) == .cancelled(reason: "message_or_token_gone"))
            #expect(world.apple.messages.isEmpty)
            #expect(try await world.database.psql("SELECT count(*) FROM push_tokens") == ["0"])
        }
    }

    @Test("a token that Apple no longer knows is removed, but not when it was registered again since")
    func gone() async throws {
        try await withNotification { world in
            let token = try await world.register(self.phone, of: world.ada)
            try await world.moneyArrives()
            let key = try await world.waitingPushes()[0]
            world.apple.answer(.tokenGone(since: token.registeredAt.addingTimeInterval(-60)))
            #expect(try await world.push(key) == .again(reason: "token_registered_again", after: .seconds(60)))
            #expect(try await world.pushes.tokens(of: world.ada, on: world.requests) == [token])
            world.apple.answer(.tokenGone(since: token.registeredAt.addingTimeInterval(60)))
            #expect(try await world.push(key) == .cancelled(reason: "token_gone"))
            #expect(try await world.pushes.tokens(of: world.ada, on: world.requests).isEmpty)
        }
    }

    @Test("a token moves to the person who registered it last, and the one before hears nothing more on that phone")
    func moves() async throws {
        try await withNotification { world in
            try await world.register(self.phone, of: world.ada)
            try await world.moneyArrives()
            let old = try await world.waitingPushes()
            try await world.register(self.phone.uppercased(), of: self.bola)
            #expect(try await world.pushes.tokens(of: world.ada, on: world.requests).isEmpty)
            #expect(try await world.push(old[0]) == .cancelled(reason: "message_or_token_gone"))
            try await world.moneyArrives(for: self.bola)
            try await world.moneyArrives()
            let waiting = try await world.waitingPushes()
            #expect(waiting.count == 1)
            #expect(try await world.push(waiting[0]) == .done)
            #expect(world.apple.messages.map(\.token) == [self.phone])
        }
    }

    @Test("a device has one token, registering again keeps its name, a person has at most ten, and nobody another's")
    func bounded() async throws {
        try await withNotification { world in
            let device = world.ids.next()
            let first = try await world.register(self.phone, of: world.ada, device: device)
            world.clock.advance(by: .seconds(1))
            #expect(try await world.register(self.phone, of: world.ada).id == first.id)
            try await world.register(self.tablet, of: world.ada, device: device)
            let found = try await world.pushes.tokens(of: world.ada, on: world.requests)
            #expect(found.count == 1 && found[0].deviceID == device && found[0].id != first.id)
            for number in 10..<22 {
                world.clock.advance(by: .seconds(1))
                try await world.register("\(number)" + String(repeating: "c3", count: 20), of: world.ada)
            }
            let all = try await world.pushes.tokens(of: world.ada, on: world.requests)
            #expect(all.count == PushToken.perPerson && !all.contains { $0.id == found[0].id })
            for owner in [self.bola, world.ada] {
                let isGone = try await world.asUser(self.bola) {
                    try await world.pushes.remove(all[0].id, of: owner, in: $0)
                }
                #expect(!isGone)
            }
        }
    }

    @Test("two people who register one token at the same moment: one of them has it")
    func atOnce() async throws {
        try await withNotification { world in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for person in [world.ada, self.bola, world.ada, self.bola] {
                    group.addTask { try await world.register(self.phone, of: person) }
                }
                try await group.waitForAll()
            }
            #expect(try await world.database.psql("SELECT count(*) FROM push_tokens") == ["1"])
        }
    }

    @Test("a phone is taken with an active device of one's own alone, whoever's or nobody's the other is")
    func devices() async throws {
        try await withNotification { world in
            let (own, removed, others) = (world.ids.next(), world.ids.next(), world.ids.next())
            let now = Timestamp.text(world.clock.now)
            let owners = [(own, world.ada), (removed, world.ada), (others, UserID(clerkSubject: "user_bola"))]
            for (device, owner) in owners {
                let event = DeviceRegistered(userID: owner.uuid, deviceID: device, publicKey: "k", activatedAt: now)
                try await world.hear(event)
            }
            try await world.hear(DeviceRevoked(userID: world.ada.uuid, deviceID: removed, revokedAt: now))
            // Heard in the other order it stays removed.
            let late = world.ids.next()
            try await world.hear(DeviceRevoked(userID: world.ada.uuid, deviceID: late, revokedAt: now))
            try await world.hear(
                DeviceRegistered(userID: world.ada.uuid, deviceID: late, publicKey: "k", activatedAt: now)
            )
            let check = { (device: UUID) in
                try await world.asUser(world.ada) { try await AccessStore().check(device, of: world.ada, in: $0) }
            }
            try await check(own)
            for device in [removed, late] {
                await #expect(throws: NotificationError.deviceUnknown) { try await check(device) }
            }
            // Of a new id that was not heard of here nobody says yet whose it is.
            for device in [others, world.ids.next()] {
                await #expect(throws: NotificationError.deviceNotReady) { try await check(device) }
            }
            world.clock.advance(by: .seconds(61))
            for device in [others, UUID()] {
                await #expect(throws: NotificationError.deviceUnknown) { try await check(device) }
            }
        }
    }

    @Test("a phone gets no more pushes when its session is over, and is not taken again in it")
    func sessions() async throws {
        try await withNotification { world in
            for (token, session) in [(self.phone, "sess_1"), (self.tablet, "sess_2")] {
                try await world.register(token, of: world.ada, session: session)
            }
            let over = SessionEnded(
                userID: world.ada.uuid,
                sessionID: "sess_1",
                endedAt: Timestamp.text(world.clock.now)
            )
            try await world.hear(over)
            #expect(try await world.database.psql("SELECT session_id FROM push_tokens") == ["sess_2"])
            for (session, isOver) in [("sess_1", true), ("sess_2", false)] {
                let check = {
                    try await world.asUser(world.ada) {
                        try await AccessStore().check(session: session, of: world.ada, in: $0)
                    }
                }
                guard isOver else {
                    try await check()
                    continue
                }
                await #expect(throws: NotificationError.sessionEnded) { try await check() }
            }
        }
    }

    @Test("a device that is removed gets no more pushes, the others hear of it; tokens rest sealed")
    func revoked() async throws {
        try await withNotification { world in
            let device = world.ids.next()
            try await world.register(self.phone, of: world.ada, device: device)
            try await world.register(self.tablet, of: world.ada)
            let sealed = try await world.database.psql("SELECT token FROM push_tokens")
            #expect(sealed.allSatisfy { $0.hasPrefix("s1.") && !$0.contains(self.phone) })
            try await world.hear(
                DeviceRevoked(userID: world.ada.uuid, deviceID: device, revokedAt: Timestamp.text(world.clock.now))
            )
            let waiting = try await world.waitingPushes()
            #expect(waiting.count == 1)
            for key in waiting { _ = try await world.push(key) }
            #expect(world.apple.messages.map(\.token) == [self.tablet])
            #expect(world.apple.messages.map(\.kind) == ["device.revoked"])
        }
    }

    @Test("texts that are no tokens are refused", arguments: ["", "abc", "zz11zz11zz11zz11", "a1 a1a1a1a1a1a1a1a1"])
    func malformed(text: String) {
        #expect(throws: NotificationError.malformedPushToken) { try PushToken(checking: text) }
        #expect(throws: NotificationError.malformedPushToken) {
            try PushToken(checking: String(repeating: "a", count: 201))
        }
    }

    @Test("what a push says without amounts has no values, for every kind of message")
    func discreet() {
        for kind in NoticeKind.allCases {
            #expect(!kind.discreet.contains { $0.isNumber || $0 == "₦" || $0 == "@" }, "\(kind)")
            #expect(!kind.title.isEmpty && kind.discreet.count > 10)
        }
    }
}
