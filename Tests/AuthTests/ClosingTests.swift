import Contracts
import Messaging
import Primitives
import Sealing
import ServiceTestSupport
import Testing

@testable import AuthService

@Suite("Closing and erasing a profile", .serialized)
struct ClosingTests {
    private func withAda(_ body: (AuthWorld) async throws -> Void) async throws {
        try await withAuth { world in
            try await world.onboard("user_ada", Sample.personal("ada"))
            try await world.setPIN(try PIN("4821", pointer: "/pin"), current: nil, of: world.ada, cause: Cause())
            let key = Base64URL.encode(DevicePrivateKey().publicKey.x963)
            let draft = try DeviceDraft(checking: DeviceRequest(name: "Phone", publicKey: key, pin: "4821"))
            _ = try await world.asUser(world.ada) { try await world.registerDevice(draft, user: world.ada, in: $0) }
            try await body(world)
        }
    }

    @discardableResult
    private func deleted(
        _ subject: String = "user_ada",
        id: String = "msg_1",
        in world: AuthWorld
    ) async throws -> Bool {
        try await world.takeClerkMessage(.userDeleted(subject: subject), id: id, cause: Cause())
    }

    /// Runs the schedule once.
    private func look(in world: AuthWorld) async throws {
        try await world.work.transaction(cause: Cause()) { try await AuthWorld.eraseClosed.ask(in: $0) }
    }

    @Test(
        "what a message says is read as far as it matters",
        arguments: [
            (
                #"{"type":"user.deleted","data":{"id":"user_ada","deleted":true}}"#,
                ClerkMessage.userDeleted(subject: "user_ada")
            ),
            (#"{"type":"user.updated","data":{"id":"user_ada"}}"#, .other),
            (#"{"type":"sms.created","data":[1]}"#, .other),
            (#"{"type":"a.word.of.tomorrow"}"#, .other), (#"{"type":"user.deleted","data":{}}"#, nil),
            (#"{"type":"user.deleted","data":{"id":""}}"#, nil), (#"{"type":5}"#, nil), ("[]", nil), ("", nil),
        ]
    )
    func messages(body: String, message: ClerkMessage?) {
        #expect(ClerkMessage(parsing: Array(body.utf8)) == message)
    }

    @Test("a deleted user has no PIN and no devices and is told of once, however often the message comes")
    func close() async throws {
        try await self.withAda { world in
            var areNew: [Bool] = []
            for id in ["msg_1", "msg_1", "msg_2"] { areNew.append(try await self.deleted(id: id, in: world)) }
            #expect(areNew == [true, false, true])
            #expect(
                try await world.said() == [
                    "user.created", "pin.set", "device.registered", "device.revoked", "user.closed",
                ]
            )
            await #expect(throws: AuthError.pinNotSet) {
                try await world.checkPIN(try PIN("4821", pointer: "/pin"), of: world.ada, cause: Cause())
            }
            await #expect(throws: AuthError.notOnboarded) {
                try await world.setPIN(try PIN("4821", pointer: "/pin"), current: nil, of: world.ada, cause: Cause())
            }
            await #expect(throws: AuthError.alreadyOnboarded) {
                try await world.onboard("user_ada", Sample.personal("ada2"))
            }
            // What was sealed can be read until it is erased.
            _ = try await world.vault.open(world.ada, as: nil, on: world.work)
        }
    }

    @Test("a profile that an operator closes has no PIN and no devices; other restrictions leave it alone")
    func closedByOperator() async throws {
        try await self.withAda { world in
            for (sequence, word) in [(1, Restriction.frozen), (2, .none), (3, .closed), (4, .closed)] {
                let event = UserRestricted(userID: world.ada.uuid, restriction: Open(word), reason: "a_test")
                try await world.hear(event, sequence: Int64(sequence))
                let isOpen = try await world.users.find(world.ada, on: world.requests) != nil
                #expect(isOpen == (sequence < 3))
            }
            #expect(try await world.said().suffix(2) == ["device.revoked", "user.closed"])
        }
    }

    @Test("a message about somebody who never signed up, or of another kind, does nothing")
    func nobody() async throws {
        try await self.withAda { world in
            try await self.deleted("user_nobody", in: world)
            let isNew = try await world.takeClerkMessage(.other, id: "msg_9", cause: Cause())
            #expect(!isNew)
            #expect(try await world.said() == ["user.created", "pin.set", "device.registered"])
            #expect(try await world.users.find(world.ada, on: world.requests) != nil)
        }
    }

    @Test("when the retention is over transaction is asked every day, and its answer erases the user")
    func retention() async throws {
        try await self.withAda { world in
            try await self.deleted(in: world)
            try await self.look(in: world)
            // An answer to nothing.
            try await world.hear(UserErasureCleared(userID: world.ada.uuid), sequence: 1)
            #expect(try await world.said().last == "user.closed")

            world.clock.advance(by: AuthWorld.retention)
            for _ in 0..<3 { try await self.look(in: world) }
            #expect(try await world.said().filter { $0 == "user.erasure_due" }.count == 1)
            world.clock.advance(by: .seconds(24 * 60 * 60))
            try await self.look(in: world)
            #expect(try await world.said().filter { $0 == "user.erasure_due" }.count == 2)
            _ = try await world.vault.open(world.ada, as: nil, on: world.work)

            for sequence in [2, 3] as [Int64] {
                try await world.hear(UserErasureCleared(userID: world.ada.uuid), sequence: sequence)
            }
            #expect(try await world.said().filter { $0 == "user.erased" }.count == 1)
            await #expect(throws: AuthError.erased) {
                try await world.vault.open(world.ada, as: nil, on: world.work)
            }
            world.clock.advance(by: .seconds(24 * 60 * 60))
            try await self.look(in: world)
            #expect(try await world.said().last == "user.erased")
        }
    }

    @Test("an open profile is not erased, whatever transaction says")
    func open() async throws {
        try await self.withAda { world in
            world.clock.advance(by: AuthWorld.retention * 2)
            try await world.hear(UserErasureCleared(userID: world.ada.uuid), sequence: 1)
            #expect(try await world.said() == ["user.created", "pin.set", "device.registered"])
        }
    }

    @Test("messages are remembered for a month")
    func pruning() async throws {
        try await self.withAda { world in
            try await self.deleted("user_nobody", in: world)
            try await self.look(in: world)
            #expect(try await world.count("clerk_webhooks") == 1)
            world.clock.advance(by: .seconds(31 * 24 * 60 * 60))
            try await self.look(in: world)
            #expect(try await world.count("clerk_webhooks") == 0)
        }
    }
}
