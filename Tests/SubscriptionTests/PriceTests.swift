import Foundation
import Primitives
import Testing

@testable import SubscriptionService

@Suite("Prices and anniversaries")
struct PriceTests {
    @Test("the newest price whose day has begun in Lagos counts, and a price of nothing ends the sale")
    func dated() throws {
        let list = try PriceList(entries: [
            "plus:2026-01-01:150000", "plus:2026-06-01:200000", "plus:2027-01-01:0", "gold:2026-01-01:100000",
        ])
        let plus = try Plan(paid: "plus")
        for (moment, price) in [
            ("2025-12-31T22:59:59Z", nil), ("2025-12-31T23:00:00Z", 150_000), ("2026-05-31T22:59:59Z", 150_000),
            ("2026-05-31T23:00:00Z", 200_000), ("2026-12-31T23:00:00Z", nil),
        ] as [(String, Int64?)] {
            #expect(list.price(of: plus, at: try moment.moment)?.kobo == price, "\(moment)")
        }
        #expect(list.price(of: try Plan(paid: "silver"), at: try "2026-02-01T00:00:00Z".moment) == nil)
        let sold = list.sold(at: try "2026-02-01T00:00:00Z".moment)
        #expect(sold.map(\.plan.name) == ["gold", "plus"] && sold.map(\.price.kobo) == [100_000, 150_000])
    }

    @Test(
        "a list that makes no sense is refused",
        arguments: [
            (["plus"], .malformed), (["free:2026-01-01:1"], .malformed), (["plus:2026-02-30:1"], .malformed),
            (["plus:2026-01-01:-1"], .malformed), (["plus:2026-01-01:100000001"], .malformed),
            (["plus:2026-01-01:1.5"], .malformed), (["Plus:2026-01-01:1"], .malformed),
            (["plus:2026-01-01:1:2"], .malformed), (["a:2026-01-01:1", "a:2026-01-01:2"], .twice), ([], .empty),
        ] as [([String], PriceListProblem)]
    )
    func refused(entries: [String], problem: PriceListProblem) {
        #expect(throws: problem) { try PriceList(entries: entries) }
    }

    @Test("31 January is followed by 28 February and 31 March, in Lagos, at the same time of day")
    func anniversaries() throws {
        // 00:30 in Lagos on 31 January.
        let anchor = try "2027-01-30T23:30:00Z".moment
        var ends: [String] = []
        var moment = anchor
        for _ in 0..<4 {
            moment = Anniversary.of(anchor, after: moment)
            ends.append(Timestamp.text(moment))
        }
        #expect(
            ends == [
                "2027-02-27T23:30:00.000Z", "2027-03-30T23:30:00.000Z", "2027-04-29T23:30:00.000Z",
                "2027-05-30T23:30:00.000Z",
            ]
        )
        // A leap year has a 29 February.
        let leap = try "2028-01-31T12:00:00Z".moment
        #expect(Timestamp.text(Anniversary.of(leap, after: leap)) == "2028-02-29T12:00:00.000Z")
        // After years the day of the first period still counts.
        #expect(
            Timestamp.text(Anniversary.of(anchor, after: try "2031-02-27T23:29:59Z".moment))
                == "2031-02-27T23:30:00.000Z"
        )
        #expect(
            Timestamp.text(Anniversary.of(anchor, after: try "2031-02-27T23:30:00Z".moment))
                == "2031-03-30T23:30:00.000Z"
        )
    }

    @Test("a reference names the person and the day in Lagos")
    func reference() throws {
        let user = UserID(try #require(UUID(text: "01932f5e-0000-7000-8000-000000000001")))
        #expect(
            Charge.reference(of: user, try "2026-12-31T23:00:00Z".moment)
                == "sub-01932f5e-0000-7000-8000-000000000001-20270101"
        )
    }
}
