import Contracts
import Foundation
import Messaging
import Postgres
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import TransactionService

@Suite("Caps")
struct CapTests {
    private func caps(_ code: String, of user: UserID, in world: TransactionWorld) async throws -> [LimitCap] {
        let limits = try await LimitStore(client: world.requests.client).limits(of: user)
        return try #require(limits).caps.filter { $0.code == code }
    }

    @Test("an order is refused exactly for what its cap has no more, and not when that has ended")
    func device() async throws {
        try await withTransaction { world in
            try await world.funds("ada-account", 10_000_000, "p-1")
            let (device, now) = (world.ids.next(), world.clock.now)
            let registered = DeviceRegistered(
                userID: world.ada.uuid,
                deviceID: device,
                publicKey: Base64URL.encode([1, 2, 3]),
                activatedAt: Timestamp.text(now)
            )
            try await world.hear(registered, about: device)
            let ends = Timestamp.text(now.addingTimeInterval(24 * 3600))
            try await world.pays("bayo", 1_500_000)
            let cap = LimitCap(
                code: "limit_new_device",
                unit: "kobo",
                limit: 2_000_000,
                used: 1_500_000,
                left: 500_000,
                until: ends,
                deviceID: device
            )
            #expect(try await self.caps("limit_new_device", of: world.ada, in: world) == [cap])
            #expect(try await world.orders("bayo", cap.left + 1).outcome == .refused(cap.code))
            try await world.pays("bayo", cap.left)
            #expect(try await self.caps("limit_new_device", of: world.ada, in: world).map(\.left) == [0])
            try await world.passes(.seconds(24 * 3600))
            #expect(try await self.caps("limit_new_device", of: world.ada, in: world) == [])
            try await world.pays("bayo", 1_000_000)
        }
    }

    @Test("the day's limit is the lower one, asked people are named, and what is not of time has no end")
    func others() async throws {
        try await withTransaction { world in
            try await world.funds("ada-account", 10_000, "p-1")
            try await world.pays("bayo", 700)
            let day = try #require(try await self.caps("limit_per_day", of: world.ada, in: world).first)
            #expect(day.limit == 5_000_000 && day.used == 700 && day.left == 4_999_300 && day.until != nil)
            let expiry = world.clock.now.addingTimeInterval(24 * 3600)
            let asked = try await world.requests.transaction(as: world.ada, cause: Cause()) { transaction in
                try await transaction.query(
                    """
                    SELECT create_payment_request(\(world.ids.next()), \(world.ada.uuid), \("bayo"), \(Int64(100)),
                        \(String?.none), \("https://x/r/1"), \(expiry), \(UUID?.none), \(String?.none))
                    """
                ).first.map { try $0.decode(String.self) }
            }
            #expect(asked == "created")
            let often = try await self.caps("asked_too_often", of: world.ada, in: world)
            #expect(often.map(\.left) == [59, 19] && often.map(\.payerUsername) == [nil, "bayo"])
            let open = try await self.caps("too_many_requests_open", of: world.ada, in: world)
            #expect(open.map(\.left) == [199, 9])
            #expect(open.map(\.until) == Array(repeating: Timestamp.text(expiry), count: 2))
            let held = try #require(try await self.caps("recipient_limit", of: world.bayo, in: world).first)
            #expect(held.limit == 30_000_000 && held.used == 700 && held.until == nil)
        }
    }
}
