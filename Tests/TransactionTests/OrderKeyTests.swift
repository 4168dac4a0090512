import Foundation
import HTTPTypes
import Messaging
import Primitives
import ServiceKit
import ServiceTestSupport
import TestSupport
import Testing

@testable import TransactionService

@Suite("Keys of orders")
struct OrderKeyTests {
    /// An order that was answered, and where its bytes are.
    private struct Sample {
        let name: String
        let route: String
        let target: OrderReceipt.Target
        let location: String
    }

    private static let transaction = "01932f5e-0000-7000-8000-00000000000a"
    private static let account = "01932f5e-0000-7000-8000-00000000000b"
    private static let drop = "0f0e0d0c-0b0a-4908-8706-050403020100"

    private static func samples() throws -> [Sample] {
        let drop = OrderReceipt.Drop(
            id: try #require(UUID(uuidString: Self.drop)),
            amountPerClaim: 50_000,
            slots: 5,
            passwordRequired: true,
            expiresAt: try #require(Timestamp.parse("2026-11-22T01:07:05Z")),
            link: "https://pay.example/d/\(Self.drop)"
        )
        let account = try #require(UUID(uuidString: Self.account))
        let transaction = "/transactions/\(Self.transaction)"
        return [
            Sample(name: "payment", route: "external", target: .recipient("adaeze"), location: transaction),
            Sample(name: "withdrawal", route: "external", target: .beneficiary(account), location: transaction),
            Sample(
                name: "money_drop",
                route: "internal",
                target: .moneyDrop(drop),
                location: "/money-drops/\(Self.drop)"
            ),
        ]
    }

    private static func answer(to sample: Sample, version: Int16) throws -> OrderAnswer {
        let receipt = OrderReceipt(
            transaction: try #require(UUID(uuidString: Self.transaction)),
            route: sample.route,
            amount: 250_000,
            fee: 2500,
            duty: 5000,
            target: sample.target,
            createdAt: try #require(Timestamp.parse("2026-11-21T01:07:05.123Z")),
            version: version
        )
        return OrderAnswer(outcome: .accepted(receipt), isRepeated: true)
    }

    @Test("each kind of answer has the bytes of its version, for ever")
    func golden() throws {
        for version in 1...OrderReceipt.newestVersion {
            for sample in try Self.samples() {
                let response = try Self.answer(to: sample, version: version).response()
                let file = Repository.path("Tests/TransactionTests/Golden/\(sample.name).v\(version).json")
                let bytes = try String(contentsOfFile: file, encoding: .utf8)
                #expect(String(decoding: response.body, as: UTF8.self) == bytes, "\(sample.name) \(version)")
                #expect(response.status == .accepted && response.headers[.location] == sample.location)
                #expect(response.headers[.idempotencyReplayed] == "true")
            }
        }
    }

    @Test("the ledger names the newest version that is known here, and one that is not known is an error, no guess")
    func versions() async throws {
        try await withTransaction { world in
            #expect(try await world.number("SELECT answer_version()") == Int(OrderReceipt.newestVersion))
            try await world.funds("ada-account", 1000, "p-1")
            try await world.orders("bayo", 100, key: "lunch")
            let kept = "SELECT answer_version FROM transfers WHERE idempotency_key = 'lunch'"
            #expect(try await world.number(kept) == Int(OrderReceipt.newestVersion))
            try await world.database.psql("UPDATE transfers SET answer_version = 99 WHERE idempotency_key = 'lunch'")
            let again = try await world.orders("bayo", 100, key: "lunch")
            #expect(again.isRepeated)
            #expect(throws: UnknownAnswerVersion(version: 99)) { try again.response() }
        }
    }

    @Test("years later the same request gets the same bytes, whatever was renamed, removed, moved or forgotten since")
    func years() async throws {
        try await withTransaction { world in
            try await world.funds("ada-account", 100_000, "p-1")
            let account = world.ids.next()
            try await world.database.psql(
                """
                INSERT INTO beneficiaries (id, user_id, counterparty_id, verified, is_default)
                VALUES ('\(account.lowercased)', '\(world.ada.uuid.lowercased)', 'cp', true, true)
                """
            )
            let expiry = Timestamp.text(world.clock.now.addingTimeInterval(86_400))
            func all() async throws -> [OrderAnswer] {
                let payment = try PaymentDraft(recipient: "bayo", amount: 300, description: nil)
                return [
                    try await world.places(.payment(payment, request: nil), of: world.ada, key: "k"),
                    try await world.places(.withdrawal(to: account, amount: Money(kobo: 200)), of: world.ada, key: "k"),
                    try await world.places(try Self.drop(until: expiry), of: world.ada, key: "k"),
                ]
            }
            let first = try await all()
            for case .accepted(let receipt) in first.map(\.outcome) { try await world.ends(receipt.transaction) }
            #expect(try await world.number("SELECT count(*) FROM transfers WHERE state = 'completed'") == 4)

            try await world.database.psql("UPDATE users SET username = 'bisi' WHERE username = 'bayo'")
            try await world.database.psql("UPDATE beneficiaries SET deleted_at = transfa_now(), is_default = false")
            try await world.passes(.seconds(3 * 365 * 86_400))
            try await world.runs { try await LedgerUpkeep().prune(in: $0) }
            #expect(try await world.number("SELECT count(*) FROM approval_nonces") == 0)

            let later = try await all()
            #expect(first.count == 3 && first.allSatisfy { !$0.isRepeated } && later.allSatisfy(\.isRepeated))
            let told = try first.map { try $0.response() }
            let again = try later.map { try $0.response() }
            #expect(again.map(\.body) == told.map(\.body))
            let places = again.map { $0.headers[.location] }
            let formerly = told.map { $0.headers[.location] }
            #expect(places == formerly)
            #expect(try await world.number("SELECT count(*) FROM transfers WHERE sender_id IS NOT NULL") == 3)
        }
    }

    /// The same drop as the service would make it again: another id, and links that begin otherwise.
    private static func drop(until expiry: String) throws -> Order {
        let draft = try MoneyDropDraft(amountPerClaim: 50, slots: 2, expiresAt: expiry, title: nil, password: nil)
        let id = UUID()
        let link = PublicLink.drop(id, base: "https://\(id.lowercased.prefix(8)).example")
        return .moneyDrop(NewMoneyDrop(id: id, draft: draft, passwordHash: nil, poolAccount: "pool", link: link))
    }

    @Test("a refusal that passes by itself is 409 with Retry-After and leaves nothing: the same approval is good later")
    func passing() async throws {
        try await withTransaction { world in
            try await world.funds("ada-account", 1000, "p-1")
            let nonce = world.ids.next()
            try await world.database.psql("UPDATE users SET provider_account = NULL WHERE username = 'bayo'")
            let early = try await world.orders("bayo", 100, key: "lunch", nonce: nonce)
            #expect(early.outcome == .refused("recipient_not_ready") && !early.isRepeated)
            let told = try #require(throws: APIError.self) { try early.response() }
            #expect(told.status == .conflict && told.headers[.retryAfter] == "60")
            let isKept = try await world.store.stored(world.ada, route: Self.route, key: "lunch") != nil
            #expect(!isKept)
            #expect(try await world.number("SELECT count(*) FROM approval_nonces") == 0)

            try await world.database.psql("UPDATE users SET provider_account = 'bayo-account' WHERE username = 'bayo'")
            let accepted = try await world.orders("bayo", 100, key: "lunch", nonce: nonce)
            let repeated = try await world.orders("bayo", 100, key: "lunch", nonce: nonce)
            #expect(!accepted.isRepeated && repeated.isRepeated && repeated.outcome == accepted.outcome)
            #expect(try accepted.response().status == .accepted)
        }
    }

    @Test("what may be otherwise later is the answer to the approval that was refused, and to none that is new")
    func momentary() async throws {
        try await withTransaction { world in
            let (refused, new) = (world.ids.next(), world.ids.next())
            let dear = try await world.orders("bayo", 5000, key: "dear", nonce: refused)
            #expect(dear.outcome == .refused("insufficient_funds"))
            try await world.funds("ada-account", 10_000, "p-1")
            let again = try await world.orders("bayo", 5000, key: "dear", nonce: refused)
            #expect(again.isRepeated && again.outcome == dear.outcome)
            let kept = try #require(try await world.store.stored(world.ada, route: Self.route, key: "dear"))
            #expect(kept.answer == again && kept.stands(under: refused) && !kept.stands(under: new))

            let accepted = try await world.orders("bayo", 5000, key: "dear", nonce: new)
            #expect(!accepted.isRepeated)
            #expect(try accepted.response().status == .accepted)
            let after = try await world.orders("bayo", 5000, key: "dear", nonce: refused)
            #expect(after.isRepeated && after.outcome == accepted.outcome)
            let stands = try #require(try await world.store.stored(world.ada, route: Self.route, key: "dear"))
            #expect(stands.refusedApproval == nil && stands.stands(under: refused) && stands.stands(under: new))
            #expect(try await world.brokenInvariants() == [])
        }
    }

    @Test("what will never be otherwise is the answer under every approval")
    func lasting() async throws {
        try await withTransaction { world in
            let first = try await world.orders("ada", 100, key: "me")
            let again = try await world.orders("ada", 100, key: "me")
            #expect(first.outcome == .refused("recipient_self") && !first.isRepeated)
            #expect(again.outcome == first.outcome && again.isRepeated)
            let kept = try #require(try await world.store.stored(world.ada, route: Self.route, key: "me"))
            #expect(kept.refusedApproval == nil && kept.stands(under: world.ids.next()))
        }
    }

    private static let route = "POST /transactions/p2p"
}

extension TransactionWorld {
    fileprivate var store: OrderStore { OrderStore(client: self.requests.client) }
}
