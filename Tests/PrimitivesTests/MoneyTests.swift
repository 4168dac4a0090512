import Foundation
import Primitives
import Testing

@Suite("Money")
struct MoneyTests {
    private static let edges: [Int64] = [.min, .min + 1, -1, 0, 1, .max - 1, .max]

    @Test("sums and differences are exact or refused, at every pair of edges")
    func edges() {
        for left in Self.edges {
            for right in Self.edges {
                let sum = left.addingReportingOverflow(right)
                let expectedSum = sum.overflow ? nil : Money(kobo: sum.partialValue)
                #expect((try? Money(kobo: left).adding(Money(kobo: right))) == expectedSum)
                let difference = left.subtractingReportingOverflow(right)
                let expectedDifference = difference.overflow ? nil : Money(kobo: difference.partialValue)
                #expect((try? Money(kobo: left).subtracting(Money(kobo: right))) == expectedDifference)
            }
        }
    }

    @Test("what does not fit throws and never wraps")
    func overflow() {
        #expect(throws: MoneyOverflow()) { try Money(kobo: .max).adding(Money(kobo: 1)) }
        #expect(throws: MoneyOverflow()) { try Money(kobo: .min).subtracting(Money(kobo: 1)) }
        #expect(throws: MoneyOverflow()) { try Money(kobo: .min).negated() }
        #expect(throws: MoneyOverflow()) { try Money(kobo: .max / 2 + 1).multiplied(by: 2) }
        #expect((try? Money(kobo: .max / 2).multiplied(by: 2)) == Money(kobo: .max - 1))
    }

    @Test("adding and subtracting the same amount changes nothing")
    func inverse() throws {
        for _ in 0..<1000 {
            let one = Money(kobo: .random(in: Int64.min / 2...Int64.max / 2))
            let other = Money(kobo: .random(in: Int64.min / 2...Int64.max / 2))
            #expect(try one.adding(other).subtracting(other) == one)
        }
    }

    @Test("its JSON is a bare integer, the largest included")
    func coding() throws {
        let amounts = Self.edges.map { Money(kobo: $0) }
        let json = try JSONEncoder().encode(amounts)
        #expect(String(decoding: json, as: UTF8.self) == "[" + Self.edges.map { "\($0)" }.joined(separator: ",") + "]")
        #expect(try JSONDecoder().decode([Money].self, from: json) == amounts)
    }

    @Test("other JSON than an integer is refused", arguments: ["\"100\"", "1.5", "null", "9223372036854775808", "{}"])
    func refusedJSON(_ text: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([Money].self, from: Data("[\(text)]".utf8)) }
    }

    @Test(
        "people read it in naira",
        arguments: [
            (0, "₦0.00"), (5, "₦0.05"), (99_999, "₦999.99"), (100_000, "₦1,000.00"), (123_456_789, "₦1,234,567.89"),
            (-150, "-₦1.50"), (Int64.min, "-₦92,233,720,368,547,758.08"),
        ] as [(Int64, String)]
    )
    func nairaText(_ kobo: Int64, _ text: String) {
        #expect(Money(kobo: kobo).nairaText == text)
    }
}
