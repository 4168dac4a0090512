import Contracts
import Foundation
import Testing

@testable import CustomerService

@Suite("Whose name an account is in")
struct HolderNameTests {
    /// A line of the table of pairs.
    struct Pair: Sendable, CustomTestStringConvertible {
        let answer: HolderName.Match
        let kind: String
        let bank: String
        let user: String
        let why: String

        var testDescription: String { "\(self.bank) / \(self.user): \(self.why)" }

        var details: CustomerDetails {
            guard self.kind != "person" else { return HolderNameTests.person(self.user) }
            var business = Sample.business
            business.businessName = self.user
            business.registrationType = self.kind == "owner" ? "Business_Name" : "Private_Incorporated"
            return CustomerDetails(business: business)
        }
    }

    private static func person(_ name: String) -> CustomerDetails {
        CustomerDetails(person: KYCDetails(fullName: name, bvn: "22212345678", dateOfBirth: "1994-02-28"))
    }

    /// Names as people and banks of the country write them; a line that is no pair is a mistake of the table.
    static func pairs() throws -> [Pair] {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Golden").appendingPathComponent("holder_names.txt")
        let answers: [String: HolderName.Match] = ["verified": .same, "look": .unclear, "rejected": .different]
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        return try lines.filter { !$0.hasPrefix("#") }.map { line in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
            let count = cells.count
            let answer = try #require(count == 5 ? answers[cells[0]] : nil, "\(line)")
            try #require(["person", "company", "owner"].contains(cells[1]), "\(line)")
            return Pair(answer: answer, kind: cells[1], bank: cells[2], user: cells[3], why: cells[4])
        }
    }

    @Test("each pair of the table gets its answer")
    func table() throws {
        let pairs = try Self.pairs()
        #expect(pairs.count > 100)
        for pair in pairs {
            let match = HolderName(pair.bank, cutAt: [20, 30]).match(pair.details)
            #expect(match == pair.answer, "\(pair.testDescription)")
        }
    }

    @Test("a name is cut where its bank cuts, and nowhere else")
    func lengths() throws {
        let user = Self.person("Adaeze Oluwaseun Okonkwo")
        let lengths = try #require(NameLengths(["30", "000013:20", "000013:25"]))
        #expect(HolderName("OLUWASEUN ADAEZE OKO", cutAt: lengths["000013"]).match(user) == .same)
        #expect(HolderName("OLUWASEUN ADAEZE OKO", cutAt: lengths["000014"]).match(user) == .unclear)
        for text in ["x", "000013:", ":20", "13:20", "000013:20:1", "9", "201", "-20"] {
            #expect(NameLengths([text]) == nil, "\(text)")
        }
    }

    @Test("who has given no details has no name")
    func nobody() {
        #expect(HolderName("ADAEZE OKONKWO").match(CustomerDetails()) == .different)
    }
}
