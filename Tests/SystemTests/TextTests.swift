import Contracts
import Foundation
import Primitives
import TestSupport
import Testing

extension Tools {
    /// That `deploy/gateway/texts.md` names every text of a person that the documents take, and no other.
    @Suite struct TextTableTests {
        private static let anywhere = "the internal port"

        /// The rows of the table of places: members, and what takes them.
        private static func rows() throws -> [(members: [String], takers: [String])] {
            let page = try String(contentsOfFile: Repository.path("deploy/gateway/texts.md"), encoding: .utf8)
            let lines = page.split(separator: "\n").drop { !$0.hasPrefix("| member |") }.dropFirst(2)
            return lines.prefix { $0.hasPrefix("|") }.map { line in
                let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
                let takers = Self.quoted(cells[1])
                return (Self.quoted(cells[0]), takers.isEmpty ? [cells[1]] : takers)
            }
        }

        private static func quoted(_ cell: String) -> [String] {
            cell.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }
                .map { String($0.element) }
        }

        @Test("every text that the documents take has its row, and every row its text")
        func decided() throws {
            var taken: Set<String> = []
            for endpoint in try SuiteEnvironment.names.flatMap({ try Endpoint.all(of: $0) })
            where endpoint.access != .open {
                let taker = endpoint.isOnInternalPort ? Self.anywhere : endpoint.name
                for text in endpoint.freeTexts { taken.insert("\(taker) \(text.pointer)") }
            }
            let named = try Self.rows().flatMap { row in
                row.takers.flatMap { taker in row.members.map { "\(taker) \($0)" } }
            }
            #expect(Set(named).count == named.count)
            #expect(taken.subtracting(named) == [])
            #expect(Set(named).subtracting(taken) == [])
        }
    }
}

extension Journeys {
    @Suite struct TextTests {
        /// Of each kind something, with blanks around it, and not composed.
        private static let written = " Ade\u{301} 👨‍👩‍👧 می‌خواهم \u{2068}أداما\u{2069} क्‍ष\u{a0}"
        private static let kept = Self.points("Ad\u{e9} 👨‍👩‍👧 می‌خواهم \u{2068}أداما\u{2069} क्‍ष")

        /// Code points, for Swift takes what is equivalent for equal.
        private static func points(_ text: String?) -> [UInt32] { text?.unicodeScalars.map(\.value) ?? [] }

        @Test("what people write is shown as it is kept, by each place that takes it, to whoever may see it")
        func shown() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("writes", funding: 50_000)
            let bola = try await suite.person("readsit")

            let order = P2PRequest(recipientUsername: bola.username, amount: 1000, description: Self.written)
            let paid = try await suite.order("/transactions/p2p", as: ada, order)
            let payment = try paid.decode(P2PResponse.self).transactionID
            for person in [ada, bola] {
                try await eventually("the payment at \(person.username)", within: .seconds(30)) {
                    let path = "/transactions/\(payment.lowercased)"
                    let seen = try await suite.call("GET", .transaction, path, as: person.subject)
                    guard seen.status == 200 else { return false }
                    return Self.points(try seen.decode(TransactionResource.self).description) == Self.kept
                }
            }

            let asked = try await suite.ask(as: ada, PaymentRequestRequest(amount: 7000, description: Self.written))
            let request = "/payment-requests/\(asked.id.lowercased)"
            let description = try await suite.read(request, as: bola, PaymentRequestResource.self).description
            #expect(Self.points(description) == Self.kept)

            let problem = DisputeRequest(reason: "other", text: Self.written)
            let disputes = "/transactions/\(payment.lowercased)/disputes"
            let body = try RunningSuite.json(problem)
            #expect(try await suite.call("POST", .transaction, disputes, as: ada.subject, body: body).status == 201)
            let words = try await suite.read(disputes, as: ada, DisputeList.self).data.first?.text
            #expect(Self.points(words) == Self.kept)
        }

        @Test("a password is the same, whichever way a phone writes its letters")
        func password() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("locks", funding: 50_000)
            let bola = try await suite.person("opens")
            let drop = MoneyDropRequest(
                amountPerClaim: 1000,
                slots: 1,
                expiresAt: Timestamp.text(Date().addingTimeInterval(86_400)),
                title: Self.written,
                password: "caf\u{e9} ọ̀rẹ́"
            )
            let made = try await suite.drop(by: ada, drop)
            let path = "/money-drops/\(made.moneyDropID.lowercased)"
            let title = try await suite.read(path, as: bola, MoneyDropResource.self).title
            #expect(Self.points(title) == Self.kept)
            let claim = try RunningSuite.json(
                ClaimRequest(password: drop.password?.decomposedStringWithCanonicalMapping)
            )
            let claimed = try await suite.change("\(path)/claim", as: bola, claim)
            #expect(claimed.status == 202, "\(claimed.text)")
        }
    }
}
