import AnchorClient
import Contracts
import Foundation
import Logging
import Messaging
import Postgres
import Primitives
import ServiceTestSupport
import TestSupport

@testable import TransactionService

/// People, a rude provider, and acts by chance: the same seed gives the same acts.
///
/// Ids are random, so nothing is chosen by them: people and transfers have numbers.
final class RandomMoney {
    /// What the test knows of a person, in its own words.
    struct Person {
        let id: UserID
        let name: String
        let bank: UUID
        var account: String { "\(self.name)-account" }
    }

    let world: TransactionWorld
    /// The ledger's and everybody's: no real time passes, so that chance alone decides what falls before what.
    let clock: JumpingClock
    let provider: RudeProvider
    var chance: SeededChance
    var people: [Person] = []
    /// Whether people may come and go.
    var isSettled = true
    /// Whose profiles are closed.
    var gone: [Person] = []
    /// What was accepted and has not been seen to end.
    var open: [UUID] = []
    var drops: [(id: UUID, creator: Int)] = []
    var requests: [(id: UUID, payer: Int, owner: Int, amount: Int64)] = []
    var unheard: [RudeProvider.Message] = []
    /// Every act and its outcome, in order.
    var history: [String] = []
    private var charges = 0

    init(world: TransactionWorld, seed: UInt64) {
        self.world = world
        self.clock = JumpingClock(at: Self.morning)
        self.provider = RudeProvider(clock: self.clock)
        self.chance = SeededChance(seed: seed)
    }

    static let crowd = 8
    /// Nine o'clock tomorrow: days begin at the same act in every play, and nobody has heard of anything later.
    private static let morning = Date(
        timeIntervalSince1970: (Date().timeIntervalSince1970 / 86_400).rounded(.down) * 86_400 + 33 * 3600
    )
    static let pool = "pool"

    /// People join, with a bank account each.
    func begins() async throws {
        try await self.stopsTime()
        for _ in 0..<Self.crowd { try await self.joins() }
        try await self.world.beats()
    }

    func joins() async throws {
        let number = self.people.count + self.gone.count
        let person = Person(
            id: UserID(clerkSubject: "user_random_\(number)"),
            name: "person\(number)",
            bank: self.world.ids.next()
        )
        try await self.world.joins(person.id, person.name)
        let bank = BeneficiaryAdded(
            userID: person.id.uuid,
            beneficiaryID: person.bank,
            anchorCounterpartyID: "\(person.name)-bank",
            isDefault: true,
            bankName: "Bank",
            bankCode: "000014",
            accountNumber: Sealed("s1.c2VhbGVk"),
            accountName: Sealed("s1.c2VhbGVk")
        )
        try await self.world.hear(bank, about: person.id.uuid, sequence: 2)
        self.people.append(person)
    }

    /// The database reads the same clock.
    private func stopsTime() async throws {
        self.world.clock.advance(by: .seconds(Self.morning.timeIntervalSinceNow))
        try await self.world.database.psql(
            """
            UPDATE clock_offset SET moved = interval '0';
            CREATE OR REPLACE FUNCTION transfa_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
                SELECT '\(Timestamp.text(Self.morning))'::timestamptz + moved FROM clock_offset
            $$
            """
        )
    }

    /// One act; its name is counted.
    func acts() async throws {
        try await self.moves(.seconds(1))
        let act = self.chance.below(100)
        switch act {
        case 0..<14: try await self.receives()
        case 14..<34: try await self.pays()
        case 34..<40: try await self.withdraws()
        case 40..<45: try await self.makesDrop()
        case 45..<53: try await self.claims()
        case 53..<55: try await self.endsDrop()
        case 55..<59: try await self.asks()
        case 59..<63: try await self.paysRequest()
        case 63..<65: try await self.isCharged()
        case 65..<68: try await self.freezesOrLetsGo()
        case 68..<80: try await self.submits()
        case 80..<87: try await self.providerMoves()
        case 87..<95: try await self.hears()
        case 95..<97: try await self.releases()
        case 97: try await self.chance.happens(85) ? self.decides() : self.closes()
        default: try await self.waits(.seconds(Double(self.chance.below(120))))
        }
    }

    func counts(_ name: String) { self.history.append(name) }

    // MARK: What people do

    func somebody() -> Int { self.chance.below(self.people.count) }

    private func receives() async throws {
        let amount = self.chance.kobo(100...20_000)
        // A payment that names a transfer of ours is not always that transfer coming back.
        let named = self.chance.happens(5) ? self.chance.one(of: Array(self.provider.completed.suffix(40))) : nil
        self.provider.receives(self.people[self.somebody()].account, amount, reference: named)
        self.counts(named == nil ? "received" : "received under a reference of ours")
    }

    private func orders(_ order: Order, of person: Int) async throws {
        let answer = try await self.world.places(order, of: self.people[person].id)
        switch answer.outcome {
        case .accepted(let receipt):
            self.open.append(receipt.transaction)
            if case .moneyDrop(let drop) = order { self.drops.append((drop.id, person)) }
            self.counts("accepted \(order.type.rawValue)")
        case .refused(let code): self.counts("refused \(code)")
        }
    }

    private func pays() async throws {
        let (from, to) = (self.somebody(), self.somebody())
        let amount = self.chance.kobo(1...9_000)
        let draft = try PaymentDraft(recipient: self.people[to].name, amount: amount, description: nil)
        try await self.orders(.payment(draft, request: nil), of: from)
    }

    private func withdraws() async throws {
        let person = self.somebody()
        let amount = Money(kobo: self.chance.kobo(100...9_000))
        try await self.orders(.withdrawal(to: self.people[person].bank, amount: amount), of: person)
    }

    private func makesDrop() async throws {
        let person = self.somebody()
        let until = self.clock.now.addingTimeInterval(Double(60 + self.chance.below(3600)))
        let draft = try MoneyDropDraft(
            amountPerClaim: self.chance.kobo(1...900),
            slots: 1 + self.chance.below(6),
            expiresAt: Timestamp.text(until),
            title: nil,
            password: nil
        )
        let drop = NewMoneyDrop(
            id: self.world.ids.next(),
            draft: draft,
            passwordHash: nil,
            poolAccount: Self.pool,
            link: "https://x/d"
        )
        try await self.orders(.moneyDrop(drop), of: person)
    }

    private func claims() async throws {
        let claimant = self.people[self.somebody()].id
        guard let drop = self.chance.one(of: self.drops.suffix(6)) else { return }
        let store = MoneyDropStore(client: self.world.requests.client, workers: self.world.work.client)
        do {
            let claimed = try await self.world.asUser(claimant) { transaction in
                try await store.claim(drop.id, by: claimant, passwordHash: nil, in: transaction)
            }
            self.open.append(claimed.transaction)
            self.counts("claimed")
        } catch let refusal as MoneyDropRefusal {
            self.counts("refused \(refusal.rawValue)")
        }
    }

    private func endsDrop() async throws {
        guard let drop = self.chance.one(of: self.drops.suffix(6)) else { return }
        let creator = self.people[drop.creator].id
        let store = MoneyDropStore(client: self.world.requests.client, workers: self.world.work.client)
        do {
            try await self.world.asUser(creator) { try await store.end(drop.id, by: creator, in: $0) }
            self.counts("ended drop")
        } catch let refusal as MoneyDropRefusal {
            self.counts("refused \(refusal.rawValue)")
        }
    }

    private func asks() async throws {
        let (owner, payer) = (self.somebody(), self.somebody())
        let amount = self.chance.kobo(1...5_000)
        let draft = try PaymentRequestDraft(
            amount: amount,
            payer: self.people[payer].name,
            description: nil,
            expiresAt: nil
        )
        let new = PaymentRequestStore.New(
            id: self.world.ids.next(),
            owner: self.people[owner].id,
            draft: draft,
            sealedDescription: nil,
            link: "https://x/r",
            expiresAt: self.clock.now.addingTimeInterval(86_400)
        )
        let store = PaymentRequestStore(client: self.world.requests.client, workers: self.world.work.client)
        do {
            try await self.world.asUser(new.owner) { try await store.create(new, in: $0) }
            self.requests.append((new.id, payer, owner, amount))
            self.counts("asked")
        } catch let refusal as PaymentRequestRefusal {
            self.counts("refused \(refusal.rawValue)")
        }
    }

    private func paysRequest() async throws {
        guard let request = self.chance.one(of: self.requests.suffix(6)) else { return }
        let owner = self.people[request.owner].name
        let draft = try PaymentDraft(recipient: owner, amount: request.amount, description: nil)
        try await self.orders(.payment(draft, request: request.id), of: request.payer)
    }

    private func isCharged() async throws {
        let person = self.people[self.somebody()].id
        self.charges += 1
        let order = ChargeOrder(
            user: person.uuid,
            reference: "sub-\(person)-\(20_000_000 + self.charges)",
            attempt: 1,
            amount: self.chance.kobo(1...2_000)
        )
        let results = try await self.world.work.transaction(cause: Cause()) { transaction in
            try await ChargeStore().charge([order], in: transaction)
        }
        for result in results { self.counts("charge \(result.rawValue)") }
    }

    /// At most three are frozen at once, so that money goes on.
    private func freezesOrLetsGo() async throws {
        let person = self.people[self.somebody()].id
        try await self.world.runs { transaction in
            try await transaction.stage(
                """
                UPDATE users SET credits_blocked = NOT credits_blocked WHERE id = \(person.uuid) AND (credits_blocked
                    OR (SELECT count(*) FROM users WHERE credits_blocked) < 3)
                """
            )
        }
        self.counts("frozen or let go")
    }
}
