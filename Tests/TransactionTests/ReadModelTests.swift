import Contracts
import Foundation
import Messaging
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import TransactionService

@Suite("Events of one source in another order")
struct ReadModelTests {
    @Test(
        "a freezing that is heard after newer settings and a newer tier holds money back, and older words change nothing"
    )
    func facts() async throws {
        try await withTransaction { world in
            let user = world.ada.uuid
            try await self.settings(receiving: .wallet, sequence: 6, in: world)
            try await world.hear(UserTierChanged(userID: user, tier: 2, before: 1, reason: "documents"), sequence: 7)
            try await self.restrict(.frozen, sequence: 5, in: world)
            try await self.restrict(.none, sequence: 4, in: world)
            try await self.settings(receiving: .external, sequence: 3, in: world)
            let known = "SELECT status, debits_blocked, tier, receive_preference FROM users WHERE id = '\(world.ada)'"
            #expect(try await world.database.psql(known) == ["frozen|t|2|wallet"])
            try await self.restrict(.none, sequence: 8, in: world)
            #expect(try await world.database.psql(known) == ["active|f|2|wallet"])
        }
    }

    @Test("a device that is revoked before it is heard of is revoked for good")
    func device() async throws {
        try await withTransaction { world in
            let (user, device, now) = (world.ada.uuid, world.ids.next(), Timestamp.text(world.clock.now))
            try await world.hear(DeviceRevoked(userID: user, deviceID: device, revokedAt: now), sequence: 6)
            let registered = DeviceRegistered(userID: user, deviceID: device, publicKey: "AAAA", activatedAt: now)
            try await world.hear(registered, sequence: 5)
            #expect(try await world.number("SELECT count(*) FROM devices WHERE revoked_at IS NOT NULL") == 1)
            #expect(try await world.number("SELECT count(*) FROM devices") == 1)
        }
    }

    @Test("an account is the default by the newest choice, also when that is heard before the account")
    func accounts() async throws {
        try await withTransaction { world in
            let (first, second) = (world.ids.next(), world.ids.next())
            try await world.hear(BeneficiaryDefaulted(userID: world.ada.uuid, beneficiaryID: second), sequence: 7)
            try await self.add(first, isDefault: true, sequence: 5, in: world)
            try await self.add(second, isDefault: false, sequence: 6, in: world)
            let chosen = "SELECT id FROM default_beneficiary('\(world.ada)')"
            #expect(try await world.database.psql(chosen) == [second.lowercased])
            try await world.hear(BeneficiaryRemoved(userID: world.ada.uuid, beneficiaryID: second), sequence: 8)
            try await self.add(second, isDefault: true, sequence: 9, in: world)
            #expect(try await world.database.psql(chosen) == [])
        }
    }

    @Test("what devices and corrections of one batch will lock is locked first, in one statement")
    func locks() async throws {
        try await withTransaction { world in
            try await world.service.consume(self.batch(in: world))
            #expect(try await world.number("SELECT count(*) FROM parked_events") == 0)
            #expect(try await world.number("SELECT count(*) FROM devices") == 3)
            #expect(try await world.number("SELECT sum(slots_adjusted) FROM receiving_counters") == 1)
            try await world.database.psql(
                """
                CREATE TABLE locked (users bigint, counted bigint);
                GRANT INSERT ON locked TO PUBLIC;
                CREATE OR REPLACE FUNCTION lock_heard(p_users uuid[], p_since timestamptz[], p_counted uuid[]) RETURNS void
                LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
                    INSERT INTO locked VALUES (cardinality(p_users), cardinality(p_counted))
                $$
                """
            )
            try await world.service.consume(self.batch(in: world))
            let locked = try await world.database.psql("SELECT users, counted FROM locked")
            #expect(locked == ["3|1"])
        }
    }

    /// A correction, a new device and a new PIN, of two people.
    private func batch(in world: TransactionWorld) throws -> [Data] {
        let month = String(LagosCalendar.monthStart(of: world.clock.now).description.dropLast(3))
        let now = Timestamp.text(world.clock.now)
        let (ada, bayo) = (world.ada.uuid, world.bayo.uuid)
        return [
            try self.body(
                UsageAdjusted(userID: bayo, adjustmentID: world.ids.next(), month: month, delta: 1),
                about: bayo,
                in: world
            ),
            try self.body(
                DeviceRegistered(userID: ada, deviceID: world.ids.next(), publicKey: "AAAA", activatedAt: now),
                about: ada,
                in: world
            ),
            try self.body(PINReset(userID: bayo, resetID: world.ids.next(), resetAt: now), about: bayo, in: world),
            try self.body(PINSet(userID: ada, setID: world.ids.next(), setAt: now), about: ada, in: world),
        ]
    }

    private func body<Payload: EventData>(
        _ data: Payload,
        about subject: UUID,
        in world: TransactionWorld
    ) throws -> Data {
        let attributes = EventAttributes(
            id: world.ids.next(),
            source: EventCatalogue.definition(of: Payload.type)?.source.rawValue ?? "test",
            type: Payload.type,
            majorVersion: Payload.majorVersion,
            subject: subject.lowercased,
            time: Timestamp.text(world.clock.now),
            sequence: 1
        )
        let json = String(decoding: try JSONEncoder().encode(data), as: UTF8.self)
        return try EventEnvelope.body(attributes, dataJSON: json)
    }

    private func settings(
        receiving: ReceivingPreference,
        sequence: Int64,
        in world: TransactionWorld
    ) async throws {
        let settings = UserSettingsChanged(
            userID: world.ada.uuid,
            allowSending: true,
            receivingPreference: Open(receiving)
        )
        try await world.hear(settings, sequence: sequence)
    }

    private func restrict(_ restriction: Restriction, sequence: Int64, in world: TransactionWorld) async throws {
        let event = UserRestricted(userID: world.ada.uuid, restriction: Open(restriction), reason: "a test")
        try await world.hear(event, sequence: sequence)
    }

    private func add(_ id: UUID, isDefault: Bool, sequence: Int64, in world: TransactionWorld) async throws {
        let event = BeneficiaryAdded(
            userID: world.ada.uuid,
            beneficiaryID: id,
            anchorCounterpartyID: "bank-\(id)",
            isDefault: isDefault,
            bankName: "Bank",
            accountNumber: Sealed("s1.c2VhbGVk"),
            accountName: Sealed("s1.c2VhbGVk")
        )
        try await world.hear(event, sequence: sequence)
    }
}
