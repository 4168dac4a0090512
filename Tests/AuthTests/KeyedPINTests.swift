import Contracts
import Foundation
import Messaging
import OutgoingHTTP
import Primitives
import Sealing
import ServiceKit
import ServiceTestSupport
import TestSupport
import Testing

@testable import AuthService

/// What is sent with a PIN and an idempotency key, over HTTP.
@Suite("PINs under idempotency keys", .serialized)
struct KeyedPINTests {
    private func order(_ pin: String) -> ApprovalRequest {
        let hash = String(repeating: "0a", count: 32)
        return ApprovalRequest(pin: pin, method: "POST", path: "/transactions/p2p", bodySha256: hash)
    }

    private func withPIN(redis: Bool, _ body: (AuthAPI) async throws -> Void) async throws {
        try await withAuthAPI(redis: redis) { api in
            try await api.world.setPIN(PIN("4821", pointer: "/pin"), current: nil, of: api.world.ada, cause: .init())
            try await body(api)
        }
    }

    @Test("eight equal wrong tries at once count once, and the key tries no other PIN", arguments: [false, true])
    func wrongTogether(redis: Bool) async throws {
        try await self.withPIN(redis: redis) { api in
            let wrong = self.order("1597")
            let answers = try await api.together(8) { try await api.send(.post, "/approvals", wrong, key: "k1") }
            #expect(answers.map(\.status) == Array(repeating: 403, count: 8))
            #expect(Set(answers.map(\.detail)) == ["The PIN is wrong. Attempts left: 4."])
            #expect(try await api.world.failedAttempts() == 1)
            for pin in ["4821", "7531"] {
                let other = try await api.send(.post, "/approvals", self.order(pin), key: "k1")
                #expect(other.status == 422 && other.code == "idempotency_key_reused")
            }
            // Each of these has guessed.
            #expect(try await api.world.failedAttempts() == 3)

            // The same on another route or under another key is another try.
            let device = DeviceRequest(name: "Phone", publicKey: Self.newKey(), pin: "1597")
            let second = try await api.send(.post, "/devices", device, key: "k1")
            #expect(second.detail == "The PIN is wrong. Attempts left: 1.")
            let right = try await api.send(.post, "/approvals", self.order("4821"), key: "k2")
            #expect(right.status == 201)
            #expect(try await api.world.failedAttempts() == 0)
            let again = try await api.send(.post, "/approvals", wrong, key: "k1")
            #expect(again.detail == "The PIN is wrong. Attempts left: 4.")
            #expect(try await api.world.failedAttempts() == 0)
        }
    }

    @Test("a repeated approval is the same token, counts nothing, and is kept sealed", arguments: [false, true])
    func approval(redis: Bool) async throws {
        try await self.withPIN(redis: redis) { api in
            let order = self.order("4821")
            let answers = try await api.together(8) { try await api.send(.post, "/approvals", order, key: "k1") }
            #expect(answers.map(\.status) == Array(repeating: 201, count: 8))
            #expect(answers.filter { !$0.isRepeated }.count == 1)
            #expect(Set(answers.map(\.text)).count == 1)
            let token = try answers[0].decode(ApprovalResponse.self).approvalToken
            let parts = token.split(separator: ".")
            #expect(parts.count == 3)

            let kept = try await api.world.database.psql("SELECT body FROM idempotency_keys")
            #expect(kept.count == 1 && kept[0].contains("s1."))
            #expect(parts.allSatisfy { !kept[0].contains($0) })

            // Others' wrong tries stay counted when what was answered comes again.
            for pin in ["1597", "7531"] { _ = try await api.send(.post, "/approvals", self.order(pin)) }
            let again = try await api.send(.post, "/approvals", order, key: "k1")
            #expect(again.isRepeated && again.text == answers[0].text)
            #expect(try await api.world.failedAttempts() == 2)
            let other = try await api.send(.post, "/approvals", order, key: "k2")
            #expect(!other.isRepeated && other.text != answers[0].text)
        }
    }

    @Test("what is kept of a request is a hash that nobody can make from the PIN alone")
    func hash() async throws {
        try await self.withPIN(redis: false) { api in
            let order = self.order("4821")
            _ = try await api.send(.post, "/approvals", order, key: "k1")
            let body = Array(try APIResponse.encoder().encode(order))
            let plain = Hex.encode(RequestFingerprint(method: "POST", path: "/approvals", body: body).bytes)
            let index = try #require(try AuthWorld.fingerprints().first)
            for table in ["idempotency_keys", "pin_tries"] {
                let sql = "SELECT encode(request_hash, 'hex') FROM \(table)"
                #expect(try await api.world.database.psql(sql) == [index.index("request", plain)], "\(table)")
            }
        }
    }

    @Test("who guesses at the PIN of a used key is counted, and locked out", arguments: [false, true])
    func oracle(redis: Bool) async throws {
        try await self.withPIN(redis: redis) { api in
            let right = try await api.send(.post, "/approvals", self.order("4821"), key: "k1")
            #expect(right.status == 201)
            for number in 1...5 {
                let guess = try await api.send(.post, "/approvals", self.order("\(7530 + number)"), key: "k1")
                #expect(guess.status == 422 && guess.code == "idempotency_key_reused")
            }
            let late = try await api.send(.post, "/approvals", self.order("9630"), key: "k1")
            #expect(late.code == "pin_locked")
            let device = DeviceRequest(name: "Phone", publicKey: Self.newKey(), pin: "4821")
            let locked = try await api.send(.post, "/devices", device, key: "k2")
            #expect(locked.code == "pin_locked")
            // What was answered is answered again.
            let again = try await api.send(.post, "/approvals", self.order("4821"), key: "k1")
            #expect(again.isRepeated && again.text == right.text)
        }
    }

    @Test("eight equal right tries are answered when they are the last that is left", arguments: [false, true])
    func last(redis: Bool) async throws {
        try await self.withPIN(redis: redis) { api in
            for pin in ["1597", "7531", "9630", "8642"] { _ = try await api.send(.post, "/approvals", self.order(pin)) }
            #expect(try await api.world.failedAttempts() == 4)
            let order = self.order("4821")
            let answers = try await api.together(8) { try await api.send(.post, "/approvals", order, key: "k1") }
            #expect(answers.map(\.status) == Array(repeating: 201, count: 8))
            #expect(Set(answers.map(\.text)).count == 1)
            #expect(try await api.world.failedAttempts() == 0)
        }
    }

    @Test("nobody opens an approval of somebody who was erased", arguments: [false, true])
    func erased(redis: Bool) async throws {
        try await self.withPIN(redis: redis) { api in
            let order = self.order("4821")
            _ = try await api.send(.post, "/approvals", order, key: "k1")
            try await api.world.work.transaction(cause: .init()) { transaction in
                try await AuthWorld.eraseUser(api.world.ada, in: transaction)
            }
            let again = try await api.send(.post, "/approvals", order, key: "k1")
            #expect(again.status == 410 && again.code == "erased")
            let tries = try await api.world.count("pin_tries")
            #expect(tries == 0)
        }
    }

    @Test("of eight equal requests that set or change the PIN one does, and all hear so", arguments: [false, true])
    func setTogether(redis: Bool) async throws {
        try await withAuthAPI(redis: redis) { api in
            let first = PINRequest(pin: "4821")
            let set = try await api.together(8) { try await api.send(.put, "/pin", first, key: "first") }
            #expect(set.map(\.status) == Array(repeating: 204, count: 8))
            #expect(set.filter { !$0.isRepeated }.count == 1)

            let change = PINRequest(pin: "739155", currentPin: "4821")
            let changed = try await api.together(8) { try await api.send(.put, "/pin", change, key: "change") }
            #expect(changed.map(\.status) == Array(repeating: 204, count: 8))
            #expect(changed.filter { !$0.isRepeated }.count == 1)
            #expect(try await api.world.said() == ["user.created", "pin.set", "pin.changed"])
            #expect(try await api.world.failedAttempts() == 0)

            let other = try await api.send(.put, "/pin", PINRequest(pin: "4821", currentPin: "739155"), key: "change")
            #expect(other.status == 422 && other.code == "idempotency_key_reused")
            // Without a key it is what it always was: the PIN is another one by now.
            let late = try await api.send(.put, "/pin", change)
            #expect(late.status == 403 && late.code == "pin_invalid")
            // And the guess under a used key.
            #expect(try await api.world.failedAttempts() == 2)
        }
    }

    @Test("a repeated reset is answered also when the sign-in is long ago, and is said once", arguments: [false, true])
    func reset(redis: Bool) async throws {
        try await self.withPIN(redis: redis) { api in
            let wish = PINResetRequest(pin: "739155")
            let first = try await api.send(.post, "/pin/reset", wish, key: "reset")
            #expect(first.status == 204 && !first.isRepeated)
            api.world.clock.advance(by: .seconds(11 * 60))
            let again = try await api.send(.post, "/pin/reset", wish, key: "reset")
            #expect(again.status == 204 && again.isRepeated)
            let late = try await api.send(.post, "/pin/reset", wish)
            #expect(late.status == 403 && late.code == "reverification_required")
            #expect(try await api.world.said() == ["user.created", "pin.set", "pin.reset"])
        }
    }

    @Test("a device is registered once, under its name, and the key takes no other PIN", arguments: [false, true])
    func device(redis: Bool) async throws {
        try await self.withPIN(redis: redis) { api in
            var request = DeviceRequest(name: "Ada's phone", publicKey: Self.newKey(), pin: "4821")
            let sent = request
            let answers = try await api.together(4) { try await api.send(.post, "/devices", sent, key: "k1") }
            #expect(answers.map(\.status) == Array(repeating: 201, count: 4))
            #expect(Set(answers.map(\.text)).count == 1)
            #expect(try answers[0].decode(DeviceResource.self).name == "Ada's phone")
            let kept = try await api.world.database.psql("SELECT body FROM idempotency_keys").joined()
            #expect(!kept.contains("Ada's phone"))
            request.pin = "1597"
            let other = try await api.send(.post, "/devices", request, key: "k1")
            #expect(other.status == 422 && other.code == "idempotency_key_reused")
            #expect(try await api.world.failedAttempts() == 1)
        }
    }

    private static func newKey() -> String { Base64URL.encode(DevicePrivateKey().publicKey.x963) }
}
