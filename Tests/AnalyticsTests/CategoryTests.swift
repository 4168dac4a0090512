import Contracts
import Foundation
import Messaging
import Primitives
import ServiceKit
import ServiceTestSupport
import TestSupport
import Testing

@testable import AnalyticsService

@Suite("Categories", .serialized)
struct CategoryTests {
    @Test("a transfer's kind and the kind of who is paid make its category")
    func automatic() async throws {
        try await withAnalytics { world in
            let ids = (0..<5).map { _ in world.ids.next() }
            try await world.hear(world.completed(ids[0], amount: 100), about: ids[0])
            try await world.hear(world.completed(ids[1], amount: 200, to: .merchant), about: ids[1])
            try await world.hear(world.inbound(ids[2], amount: 300), about: ids[2])
            try await world.hear(world.claimed(ids[3], amount: 400), about: ids[3])
            try await world.hear(world.completed(ids[4], amount: 500, type: .subscriptionCharge), about: ids[4])
            #expect(
                try await world.categories(world.ada) == [
                    "transfers": [0, 100], "shopping": [0, 200], "gifts": [0, 400], "subscriptions": [0, 500],
                    "fees": [0, 22_500],
                ]
            )
            #expect(
                try await world.categories(world.bayo) == [
                    "received": [100, 0], "sales": [200, 0], "top_ups": [300, 0], "gifts": [400, 0],
                ]
            )
        }
    }

    @Test("what a user chooses counts for them alone, can be taken back, and goes with a returned transfer")
    func chosen() async throws {
        try await withAnalytics { world in
            let (id, other) = (world.ids.next(), world.ids.next())
            try await world.hear(world.completed(id, amount: 100), about: id)
            try await world.hear(world.completed(other, amount: 10), about: other)
            try await world.chooses(world.ada, .food, for: id)
            #expect(try await world.categories(world.ada)["food"] == [0, 100])
            #expect(try await world.categories(world.ada)["transfers"] == [0, 10])
            #expect(try await world.categories(world.bayo) == ["received": [110, 0]])
            let seen = CategoryOfTransfer(automatic: "transfers", chosen: "food")
            #expect(try await world.category(of: id, for: world.ada) == seen)
            #expect(try await world.category(of: id, for: world.chi) == nil)

            try await world.chooses(world.ada, nil, for: other)
            try await world.hear(world.reversed(id), about: id)
            #expect(try await world.categories(world.ada) == ["transfers": [0, 10], "fees": [0, 7_500]])
            #expect(try await world.category(of: id, for: world.ada) == nil)
        }
    }

    @Test("nobody can choose for somebody else")
    func apart() async throws {
        try await withAnalytics { world in
            let id = world.ids.next()
            try await world.hear(world.completed(id), about: id)
            await #expect(throws: (any Error).self) {
                try await world.asUser(world.chi) { transaction in
                    try await CategoryStore().choose(.food, for: id, of: world.ada, in: transaction)
                }
            }
            #expect(try await world.category(of: id, for: world.ada)?.chosen == nil)
        }
    }

    @Test("the words of a payment make its category, and are kept nowhere")
    func words() async throws {
        try await withAnalytics { world in
            let (id, payment) = (world.ids.next(), "Suya and zobo for Kelechi")
            let sealed = try world.sealed(payment)
            try await world.hear(world.completed(id, amount: 100, words: sealed), about: id)
            #expect(try await world.categories(world.ada)["transfers"] == [0, 100])
            #expect(try await world.readsWords(of: id) == .done)
            #expect(try await world.categories(world.ada) == ["food": [0, 100], "fees": [0, 7_500]])
            #expect(try await world.categories(world.bayo) == ["received": [100, 0]])
            let facts = try await world.database.psql("SELECT * FROM facts")
            #expect(facts == ["\(id.lowercased)|counted|1"])
            let kept = try await world.database.psql("SELECT * FROM word_categories")
            #expect(kept == ["\(id.lowercased)|food"])
        }
    }

    @Test("words of somebody who was erased, or that say nothing, change nothing")
    func silentWords() async throws {
        try await withAnalytics { world in
            let (first, second) = (world.ids.next(), world.ids.next())
            let sealed = try world.sealed("Thank you")
            try await world.hear(world.completed(first, amount: 1, words: sealed), about: first)
            try await world.hear(world.completed(second, amount: 2, words: sealed), about: second)
            #expect(try await world.readsWords(of: first) == .done)
            world.keys.erase(world.ada)
            #expect(try await world.readsWords(of: second) == .cancelled(reason: "erased"))
            #expect(try await world.categories(world.ada)["transfers"] == [0, 3])
        }
    }

    @Test(
        "words count whole and the first wins",
        arguments: [
            ("Lunch on Friday", AnalyticsService.Category.food), ("RENT, and then food", .housing),
            ("welfare", nil), ("", nil), ("airtime\u{20}\u{1F600}", .airtime), ("=fuel", .transport),
        ]
    )
    func vocabulary(text: String, category: AnalyticsService.Category?) {
        #expect(CategoryWords.category(of: text) == category)
    }
}

@Suite("Counterparties", .serialized)
struct CounterpartyTests {
    @Test("those with the most money that way come first, with their names as long as they have one")
    func top() async throws {
        try await withAnalytics { world in
            for amount in [100, 200] {
                let id = world.ids.next()
                try await world.hear(world.completed(id, amount: Int64(amount)), about: id)
            }
            let id = world.ids.next()
            var toChi = world.completed(id, amount: 250)
            toChi.recipientID = world.chi.uuid
            try await world.hear(toChi, about: id)
            let bayo = UserCreated(userID: world.bayo.uuid, username: "bayo", accountType: Open(.personal))
            try await world.hear(bayo, about: world.bayo.uuid)

            let all = try await world.counterparties(world.ada, by: .out)
            #expect(all.map(\.username) == ["bayo", nil])
            #expect(all.map(\.moneyOut.kobo) == [300, 250] && all.map(\.payments) == [2, 1])
            #expect(try await world.counterparties(world.ada, by: .out, limit: 1).count == 1)
            #expect(try await world.counterparties(world.ada, by: .in).isEmpty)
            #expect(try await world.counterparties(world.bayo, by: .in).map(\.moneyIn.kobo) == [300])

            try await world.chooses(world.bayo, .sales, for: id)
            try await world.hear(UserErased(userID: world.bayo.uuid), about: world.bayo.uuid)
            // Also when the name is heard late.
            try await world.hear(bayo, about: world.bayo.uuid)
            #expect(try await world.counterparties(world.ada, by: .out).map(\.username) == [nil, nil])
            #expect(try await world.database.psql("SELECT count(*) FROM chosen_categories") == ["0"])
        }
    }
}
