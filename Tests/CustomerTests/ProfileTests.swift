import Contracts
import Foundation
import Messaging
import Postgres
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import CustomerService

@Suite("Profiles", .serialized)
struct ProfileTests {
    private func name(_ text: String) throws -> Username { try #require(Username(text)) }

    // MARK: Names and search

    @Test("a name is found in any case, and an erased or closed person never is")
    func found() async throws {
        try await withCustomer { world in
            let bola = try await world.joins("bola")
            let chi = try await world.joins("chi")
            #expect(try await world.profiles.find(try self.name("BoLa"))?.id == bola)
            try await world.hear(UserErased(userID: bola.uuid), about: bola.uuid, sequence: 2)
            try await world.restrict(chi, "closed")
            #expect(try await world.profiles.find(try self.name("bola")) == nil)
            #expect(try await world.profiles.find(try self.name("chi")) == nil)
            let dayo = try await world.joins("dayo")
            try await world.restrict(dayo, "frozen")
            #expect(try await world.profiles.find(try self.name("dayo"))?.id == dayo)
        }
    }

    @Test("a search finds names by their beginning, in order, a few at a time, and neither the reader nor the gone")
    func search() async throws {
        try await withCustomer { world in
            try await world.adaSignsUp()
            for number in 0..<12 { try await world.joins("adam\(number)") }
            let gone = try await world.joins("adab1")
            let closed = try await world.joins("adab2")
            let kept = try await world.joins("adab3")
            try await world.joins("zadam")
            try await world.hear(UserErased(userID: gone.uuid), about: gone.uuid, sequence: 2)
            try await world.restrict(closed, "closed")
            let beginning = try #require(Username(beginning: "@ADA"))
            let found = try await world.profiles.search(beginning, for: world.ada, limit: 10)
            #expect(found.count == 10 && found.first?.id == kept)
            #expect(found.map(\.username) == found.map(\.username).sorted())
            #expect(found.allSatisfy { $0.username.hasPrefix("ada") && $0.id != world.ada })
            let one = try #require(Username(beginning: "adam11"))
            #expect(try await world.profiles.search(one, for: world.ada, limit: 10).map(\.username) == ["adam11"])
        }
    }

    @Test("only what can be a name is looked for: no address, no number, no pattern")
    func names() {
        for text in ["", "@", "ab", "a@b.com", "+2348031234567", "ad%", "ad_", "ada da", "аda", "@@ada", "ada~"] {
            #expect(Username(beginning: text) == nil, "\(text)")
        }
        #expect(Username(String(repeating: "a", count: 21)) == nil && Username("@ada") == nil)
        #expect(Username("ADA1")?.text == "ada1")
    }

    @Test("names and searches are read from an index, however many people there are")
    func indexed() async throws {
        try await withCustomer { world in
            try await world.database.psql(
                """
                INSERT INTO users (id, created_at, updated_at, username)
                SELECT gen_random_uuid(), now(), now(), 'person' || n FROM generate_series(1, 5000) n;
                ANALYZE users
                """
            )
            let search = """
                EXPLAIN SELECT id FROM users WHERE username >= 'person12' AND username < 'person12~'
                AND username IS NOT NULL AND erased_at IS NULL AND restriction <> 'closed' AND id <> gen_random_uuid()
                ORDER BY username LIMIT 10
                """
            let plan = try await world.database.psql(search).joined(separator: "\n")
            #expect(plan.contains("users_public") && !plan.contains("Seq Scan") && !plan.contains("Sort"), "\(plan)")
        }
    }

    // MARK: History

    @Test("the history holds what passed between the two, newest first, and nothing of others")
    func history() async throws {
        try await withCustomer { world in
            let (ada, bola) = (world.ada, UserID(clerkSubject: "user_bola"))
            let chi = UserID(clerkSubject: "user_chi")
            let first = try await world.pays(ada, bola, 100)
            let second = try await world.pays(bola, ada, 200)
            try await world.pays(ada, chi, 300)
            try await world.pays(chi, bola, 400)
            let seen = try await world.history(of: ada, with: bola)
            #expect(seen.map(\.id) == [second, first])
            #expect(seen.map(\.amount) == [200, 100] && seen.map(\.sender) == [bola, ada])
            #expect(try await world.history(of: bola, with: ada) == seen)
            #expect(try await world.history(of: chi, with: chi).isEmpty)
            // Row level security, and not the query alone: somebody else's connection sees none of it.
            let rows = try await world.requests.client.query("SELECT id FROM transfers", as: chi.uuid)
            #expect(rows.count == 2)
        }
    }

    @Test("a reversal is kept whatever comes late or twice, and a payment's beginning is in its id")
    func outcomes() async throws {
        try await withCustomer { world in
            let bola = UserID(clerkSubject: "user_bola")
            let id = try await world.pays(world.ada, bola, 100)
            #expect(try await world.history(of: world.ada, with: bola).map(\.state) == [.completed])
            try await world.takesBack(id, world.ada, bola, 100)
            try await world.pays(world.ada, bola, 100, id: id)
            let payment = try #require(try await world.history(of: world.ada, with: bola).first)
            #expect(payment.state == .reversed && abs(payment.endedAt.timeIntervalSince(world.clock.now)) < 1)
            #expect(abs(payment.createdAt.timeIntervalSince(world.clock.now)) < 60)
        }
    }

    @Test("a payment in suspense waits for who is paid until it is released, and was sent all along")
    func suspense() async throws {
        try await withCustomer { world in
            let (ada, bola) = (world.ada, UserID(clerkSubject: "user_bola"))
            let id = try await world.pays(ada, bola, 100, reason: "suspense")
            let other = try await world.pays(ada, bola, 200, reason: "suspense")
            #expect(try await world.shown(to: bola, with: ada) == ["in_suspense", "in_suspense"])
            #expect(try await world.shown(to: ada, with: bola) == ["completed", "completed"])
            let profile = Profile(id: ada, username: "ada", accountType: Open(.personal))
            let waiting = try #require(try await world.history(of: bola, with: ada).first)
            #expect(TransactionResource(waiting, for: bola, with: profile).settledAt == nil)
            #expect(TransactionResource(waiting, for: ada, with: profile).settledAt != nil)
            for _ in 0..<2 { try await world.releases(id, for: bola, 100) }
            #expect(try await world.shown(to: bola, with: ada) == ["in_suspense", "completed"])
            #expect(try await world.shown(to: ada, with: bola) == ["completed", "completed"])
            let arrived = try #require(try await world.history(of: bola, with: ada).last)
            #expect(arrived.id == id && arrived.state == .completed)
            #expect(TransactionResource(arrived, for: bola, with: profile).settledAt != nil)
            // Which payments were released is seen by the two only.
            let stranger = UserID(clerkSubject: "user_chi").uuid
            #expect(try await world.requests.client.query("SELECT 1 FROM releases", as: stranger).isEmpty)
            #expect(try await world.requests.client.query("SELECT 1 FROM releases", as: bola.uuid).count == 1)
            try await world.releases(other, for: bola, 200)
            #expect(try await world.shown(to: bola, with: ada) == ["completed", "completed"])
        }
    }

    @Test("a release that is heard before its payment is no less of one")
    func earlyRelease() async throws {
        try await withCustomer { world in
            let (ada, bola, id) = (world.ada, UserID(clerkSubject: "user_bola"), world.ids.next())
            try await world.releases(id, for: bola, 100)
            #expect(try await world.shown(to: bola, with: ada).isEmpty)
            try await world.pays(ada, bola, 100, id: id, reason: "suspense")
            #expect(try await world.shown(to: bola, with: ada) == ["completed"])
        }
    }

    @Test("what is taken back stays so, whether it waited or was released, and whatever comes late")
    func reversedInSuspense() async throws {
        try await withCustomer { world in
            let (ada, bola) = (world.ada, UserID(clerkSubject: "user_bola"))
            let waited = try await world.pays(ada, bola, 100, reason: "suspense")
            let released = try await world.pays(ada, bola, 200, reason: "suspense")
            try await world.releases(released, for: bola, 200)
            try await world.takesBack(waited, ada, bola, 100)
            try await world.takesBack(released, ada, bola, 200)
            try await world.releases(released, for: bola, 200)
            try await world.pays(ada, bola, 100, id: waited, reason: "suspense")
            #expect(try await world.shown(to: bola, with: ada) == ["reversed", "reversed"])
            #expect(try await world.shown(to: ada, with: bola) == ["reversed", "reversed"])
        }
    }

    @Test("what leaves suspense and is no payment between two people leaves nothing here")
    func otherReleases() async throws {
        try await withCustomer { world in
            let bola = UserID(clerkSubject: "user_bola")
            try await world.releases(world.ids.next(), for: bola, 100, type: .inbound)
            try await world.releases(world.ids.next(), for: bola, 100, type: .dropClaim)
            #expect(try await world.work.client.query("SELECT 1 FROM releases").isEmpty)
        }
    }

    @Test("withdrawals, money from outside and drops are no part of a history")
    func otherKinds() async throws {
        try await withCustomer { world in
            let bola = UserID(clerkSubject: "user_bola")
            try await world.pays(world.ada, bola, 100, type: .moneyDrop)
            try await world.pays(world.ada, nil, 100, type: .selfTransfer)
            try await world.pays(nil, bola, 100, type: .dropClaim)
            #expect(try await world.work.client.query("SELECT 1 FROM transfers").isEmpty)
        }
    }

    @Test("pages follow each other without gaps or repetition, and a late page costs what the first does")
    func pages() async throws {
        try await withCustomer { world in
            let bola = UserID(clerkSubject: "user_bola")
            try await world.database.psql(
                """
                INSERT INTO transfers (id, position, sender_id, recipient_id, low_id, high_id, type, state, route, amount,
                    fee, duty, created_at, ended_at, transaction_sequence)
                SELECT x.id, x.id, x.sender, x.recipient, least(x.sender, x.recipient), greatest(x.sender, x.recipient),
                    'p2p', 'completed', 'internal', x.n, 0, 0, now(), now(), 1
                FROM (SELECT n, '\(world.ada.description)'::uuid AS sender,
                    ('019aa36c-' || lpad(to_hex(n / 65536), 4, '0') || '-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid AS id,
                    CASE WHEN n % 2 = 0 THEN '\(bola.description)'::uuid ELSE gen_random_uuid() END AS recipient
                    FROM generate_series(1, 20000) n) x;
                ANALYZE transfers
                """
            )
            var (position, seen) = (UUID.last, [Transfer]())
            for _ in 0..<3 {
                let page = try await world.history(of: world.ada, with: bola, before: position, limit: 40)
                #expect(page.count == 40)
                seen += page
                position = try #require(page.last?.id)
            }
            #expect(Set(seen.map(\.id)).count == 120 && seen.map(\.amount) == seen.map(\.amount).sorted(by: >))
            let (early, late) = (try await self.buffers(world, bola, 20_000), try await self.buffers(world, bola, 200))
            #expect(early > 0 && late <= early + 3, "\(early) and \(late) buffers")
        }
    }

    /// The buffers that a page takes which begins before the payment of this amount.
    private func buffers(_ world: CustomerWorld, _ other: UserID, _ amount: Int) async throws -> Int {
        let place = try #require(
            try await world.database.psql("SELECT id FROM transfers WHERE amount = \(amount)").first
        )
        let (low, high) = [world.ada.description, other.description].sorted().pair
        let plan = try await world.database.psql(
            """
            EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF)
            SELECT * FROM transfers WHERE low_id = '\(low)' AND high_id = '\(high)'
                AND position <= '\(place)' ORDER BY position DESC LIMIT 21
            """
        )
        #expect(plan.contains { $0.contains("transfers_pair") } && !plan.contains { $0.contains("Sort") }, "\(plan)")
        let scan = try #require(plan.firstIndex { $0.contains("transfers_pair") })
        let line = try #require(plan[scan...].first { $0.contains("Buffers:") })
        return try #require(line.split(whereSeparator: { !$0.isNumber }).compactMap { Int($0) }.first)
    }
}

extension UUID {
    fileprivate static let last = UUID(
        uuid: (255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255)
    )
}

extension Array {
    fileprivate var pair: (Element, Element) { (self[0], self[1]) }
}

extension CustomerWorld {
    var profiles: ProfileStore { ProfileStore(database: self.work) }

    /// Somebody signs up.
    @discardableResult
    func joins(_ username: String) async throws -> UserID {
        let user = UserID(clerkSubject: "user_\(username)")
        let data = UserCreated(userID: user.uuid, username: username, accountType: Open(.personal))
        try await self.hear(data, about: user.uuid)
        return user
    }

    func restrict(_ user: UserID, _ restriction: String) async throws {
        let order = try RestrictionOrder(restriction: restriction, reason: "a_test")
        try await self.work.transaction(cause: Cause()) { transaction in
            try await RestrictUser(users: self.users)(order, user: user, by: .grace, in: transaction)
        }
    }

    /// A payment arrived.
    @discardableResult
    func pays(
        _ sender: UserID?,
        _ recipient: UserID?,
        _ amount: Int64,
        type: TransactionType = .p2p,
        id: UUID? = nil,
        reason: String? = nil
    ) async throws -> UUID {
        let id = id ?? self.ids.next()
        try await self.hear(
            TransactionCompleted(
                transactionID: id,
                senderID: sender?.uuid,
                recipientID: recipient?.uuid,
                amount: amount,
                type: Open(type),
                route: Open(.internal),
                fee: 0,
                duty: 0,
                routeReason: reason,
                timestamp: Timestamp.text(self.clock.now)
            ),
            about: id,
            sequence: 2
        )
        return id
    }

    /// Money leaves suspense for who is paid.
    func releases(
        _ transfer: UUID,
        for recipient: UserID,
        _ amount: Int64,
        type: TransactionType = .p2p
    ) async throws {
        let id = self.ids.next()
        try await self.hear(
            TransactionCompleted(
                transactionID: id,
                recipientID: recipient.uuid,
                amount: amount,
                type: Open(type),
                route: Open(.internal),
                fee: 0,
                duty: 0,
                routeReason: "released",
                releases: transfer,
                timestamp: Timestamp.text(self.clock.now)
            ),
            about: id,
            sequence: 1
        )
    }

    /// A payment is taken back.
    func takesBack(_ id: UUID, _ sender: UserID, _ recipient: UserID, _ amount: Int64) async throws {
        try await self.hear(
            TransactionReversed(
                transactionID: id,
                senderID: sender.uuid,
                recipientID: recipient.uuid,
                amount: amount,
                type: Open(.p2p),
                route: Open(.internal),
                fee: 0,
                duty: 0,
                timestamp: Timestamp.text(self.clock.now)
            ),
            about: id,
            sequence: 3
        )
    }

    /// The states that a profile shows, newest first.
    func shown(to reader: UserID, with other: UserID) async throws -> [String] {
        try await self.history(of: reader, with: other).map { $0.shownState(to: reader) }
    }

    func history(
        of reader: UserID,
        with other: UserID,
        before position: UUID = .last,
        limit: Int = 20
    ) async throws -> [Transfer] {
        try await self.transfers.page(
            between: reader,
            and: other,
            before: position,
            limit: limit,
            on: self.requests
        )
    }
}
