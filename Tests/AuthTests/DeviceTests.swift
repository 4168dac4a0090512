import Contracts
import Foundation
import Messaging
import Primitives
import Sealing
import ServiceTestSupport
import TestSupport
import Testing

@testable import AuthService

@Suite("Devices", .serialized)
struct DeviceTests {
    private let ada = UserID(clerkSubject: "user_ada")

    private func draft(_ key: DevicePrivateKey, name: String = "Ada's phone") throws -> DeviceDraft {
        let text = Base64URL.encode(key.publicKey.x963)
        return try DeviceDraft(checking: DeviceRequest(name: name, publicKey: text, pin: "4821"))
    }

    private func register(_ key: DevicePrivateKey, in world: AuthWorld) async throws -> DeviceResource {
        let draft = try self.draft(key)
        let device = try await world.asUser(self.ada) { transaction in
            try await world.registerDevice(draft, user: self.ada, in: transaction)
        }
        let kept = DeviceResource(sealed: device)
        #expect(kept.name.hasPrefix("s1."))
        let list = ListDevices(database: world.requests, devices: world.devices, vault: world.vault)
        return try #require(try await list.named([kept], of: self.ada).first)
    }

    private func revoke(_ device: UUID, as user: UserID, in world: AuthWorld) async throws {
        try await world.asUser(user) { transaction in
            try await RevokeDevice(devices: world.devices)(device, user: user, in: transaction)
        }
    }

    @Test("a key that is no point of P-256 is refused")
    func form() {
        for text in ["", "AAAA", Base64URL.encode([4] + Array(repeating: 1, count: 64))] {
            #expect(throws: FieldProblem(pointer: "/public_key", rule: .publicKey)) {
                try DeviceDraft(checking: DeviceRequest(name: "Phone", publicKey: text, pin: "4821"))
            }
        }
    }

    @Test("registering says so once, and the same key again is the same device")
    func register() async throws {
        try await withAuth { world in
            try await world.onboard("user_ada", Sample.personal("ada"))
            let key = DevicePrivateKey()
            let first = try await self.register(key, in: world)
            #expect(first.name == "Ada's phone")
            #expect(try await self.register(key, in: world) == first)
            let said = try await world.said(about: self.ada)
            #expect(said.map(\.type) == ["user.created", "device.registered"])
            let event = try JSONDecoder().decode(DeviceRegistered.self, from: Data(said[1].data.utf8))
            #expect(event.deviceID == first.id && event.publicKey == Base64URL.encode(key.publicKey.x963))
            #expect(event.activatedAt == first.activatedAt)
            let list = ListDevices(database: world.requests, devices: world.devices, vault: world.vault)
            #expect(try await list(self.ada) == [first])
            #expect(try await world.database.psql("SELECT name FROM devices").allSatisfy { $0.hasPrefix("s1.") })
        }
    }

    @Test("revoking says so once, and only the owner can")
    func revoke() async throws {
        try await withAuth { world in
            try await world.onboard("user_ada", Sample.personal("ada"))
            let device = try await self.register(DevicePrivateKey(), in: world)
            await #expect(throws: AuthError.deviceNotFound) {
                try await self.revoke(device.id, as: UserID(clerkSubject: "user_bayo"), in: world)
            }
            await #expect(throws: AuthError.deviceNotFound) {
                try await self.revoke(world.ids.next(), as: self.ada, in: world)
            }
            try await self.revoke(device.id, as: self.ada, in: world)
            try await self.revoke(device.id, as: self.ada, in: world)
            #expect(
                try await world.said(about: self.ada).map(\.type) == [
                    "user.created", "device.registered", "device.revoked",
                ]
            )
            let list = ListDevices(database: world.requests, devices: world.devices, vault: world.vault)
            #expect(try await list(self.ada).first?.revokedAt != nil)
        }
    }

    @Test("an eleventh device has to wait until one is revoked")
    func limit() async throws {
        try await withAuth { world in
            try await world.onboard("user_ada", Sample.personal("ada"))
            let first = try await self.register(DevicePrivateKey(), in: world)
            for _ in 1..<Device.limit { _ = try await self.register(DevicePrivateKey(), in: world) }
            await #expect(throws: AuthError.tooManyDevices) { try await self.register(DevicePrivateKey(), in: world) }
            try await self.revoke(first.id, as: self.ada, in: world)
            _ = try await self.register(DevicePrivateKey(), in: world)
        }
    }

    @Test("erasing a user destroys the key, revokes the devices and says so once")
    func erase() async throws {
        try await withAuth { world in
            try await world.onboard("user_ada", Sample.personal("ada"))
            _ = try await self.register(DevicePrivateKey(), in: world)
            try await world.setPIN(try PIN("4821", pointer: "/pin"), current: nil, of: self.ada, cause: Cause())
            let erase = EraseUser(users: world.users, keys: DataKeyStore(), pins: world.pins, devices: world.devices)
            for _ in 0..<2 {
                try await world.work.transaction(cause: Cause()) {
                    try await erase(self.ada, by: .grace, in: $0)
                }
            }
            let acts = "SELECT actor, act, subject, reason FROM audit_log"
            #expect(try await world.database.psql(acts) == ["grace|user.erased|\(self.ada)|a test"])
            #expect(
                try await world.said(about: self.ada).map(\.type) == [
                    "user.created", "device.registered", "pin.set", "device.revoked", "user.erased",
                ]
            )
            await #expect(throws: AuthError.erased) {
                try await world.vault.open(self.ada, as: nil, on: world.work)
            }
            let list = ListDevices(database: world.requests, devices: world.devices, vault: world.vault)
            #expect(try await list(self.ada).map(\.name) == [SealedField.erasedText])
            #expect(try await world.users.find(self.ada, on: world.requests) == nil)
            await #expect(throws: AuthError.alreadyOnboarded) {
                try await world.onboard("user_ada", Sample.personal("ada2"))
            }
        }
    }
}
