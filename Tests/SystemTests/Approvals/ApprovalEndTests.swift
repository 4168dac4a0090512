import Contracts
import Foundation
import Primitives
import Sealing
import TestSupport
import Testing

extension Journeys {
    /// Every approval against everything that may end it, as `approvals.md` says.
    @Suite struct ApprovalEndTests {
        private struct Banks: Decodable {
            struct One: Decodable {
                let id: UUID
            }

            let data: [One]
        }

        /// A request that takes an approval.
        private struct Wanted {
            let place: String
            let service: ServiceName
            let method: String
            let path: String
            let body: [UInt8]
        }

        @Test("every place that takes approvals, every change and every event of auth's about a person is decided")
        func complete() throws {
            let table = try ApprovalTable.read()
            let places = try Endpoint.ofClients().filter { $0.has(header: ApprovalHeader.name) }.map(\.name)
            #expect(Set(table.places) == Set(places))
            let rows = ApprovalChange.allCases.flatMap { change in
                ApprovalChange.Means.allCases.map { ApprovalTable.Row(change: change.rawValue, means: $0.rawValue) }
            }
            #expect(Set(table.cells.keys) == Set(rows))
            let told = EventCatalogue.all.filter { $0.source == .auth && $0.subject == .user }.map(\.type.rawValue)
            #expect(told.filter { !table.text.contains("`\($0)`") } == [])
        }

        @Test("an approval ends as the page says", arguments: ApprovalChange.allCases, ApprovalChange.Means.allCases)
        func ends(change: ApprovalChange, means: ApprovalChange.Means) async throws {
            let suite = try RunningSuite.current
            let table = try ApprovalTable.read()
            let person = try await suite.person("approves", funding: 1_000_000)
            let wanted = try await self.wanted(of: person, suite)
            #expect(wanted.map(\.place) == table.places)
            var approved: [(Wanted, String)] = []
            for one in wanted { approved.append((one, try await self.approve(one, by: means, person, suite))) }
            try await change.happen(to: person, in: suite)
            let row = try #require(table.cells[ApprovalTable.Row(change: change.rawValue, means: means.rawValue)])
            for (one, approval) in approved {
                let headers = [ApprovalHeader.name: approval, "Idempotency-Key": "end-\(UUID().lowercased)"]
                let answer = try await suite.call(
                    one.method,
                    one.service,
                    one.path,
                    as: person.subject,
                    headers: headers,
                    body: one.body
                )
                let expected = try #require(row[one.place])
                let isExpected = expected.allows(status: answer.status, code: answer.error?.code)
                #expect(isExpected, "\(one.place) after \(change.rawValue), by \(means.rawValue): \(answer.text)")
            }
        }

        @Test("what a new PIN approves is good at once, while the places may not have heard of that PIN")
        func fresh() async throws {
            let suite = try RunningSuite.current
            let person = try await suite.person("renews", funding: 10_000)
            let payee = try await suite.person("paid")
            var pin = RunningSuite.pin
            for next in ["739155", "482193", "739155"] {
                let change = try RunningSuite.json(PINRequest(pin: next, currentPin: pin))
                let changed = try await suite.call("PUT", .auth, "/pin", as: person.subject, body: change)
                #expect(changed.status == 204)
                pin = next
                let body = try RunningSuite.json(P2PRequest(recipientUsername: payee.username, amount: 100))
                let path = PaymentOrder.path
                let one = Wanted(place: path, service: .transaction, method: "POST", path: path, body: body)
                var order = try PaymentOrder(from: person, body: body)
                order.approval = try await self.approve(one, by: .pin, person, suite, pin: pin)
                #expect(try await suite.pay(order).status == 202)
            }
        }

        private func wanted(of person: Person, _ suite: RunningSuite) async throws -> [Wanted] {
            let partner = try await suite.person("partner")
            try await suite.addBankAccount(of: person)
            try await suite.awaitDevice(of: person)
            let banks = try await suite.call("GET", .customer, "/beneficiaries", as: person.subject)
            let bank = try banks.decode(Banks.self).data[0].id
            let ask = PaymentRequestRequest(amount: 100, payerUsername: person.username)
            let asked = try await suite.ask(as: partner, ask).id
            let tomorrow = Timestamp.text(Date().addingTimeInterval(86_400))
            let bodies: [(String, String?, any Encodable & Sendable)] = [
                ("POST /transactions/p2p", nil, P2PRequest(recipientUsername: partner.username, amount: 100)),
                ("POST /transactions/self-transfer", nil, SelfTransferRequest(beneficiaryID: bank, amount: 100)),
                ("POST /money-drops", nil, MoneyDropRequest(amountPerClaim: 100, slots: 2, expiresAt: tomorrow)),
                (
                    "POST /payment-requests/{id}/pay", "/payment-requests/\(asked.lowercased)/pay",
                    PayRequestRequest()
                ),
                ("PUT /limits", nil, OwnLimits(perTransfer: 5_000_000)),
                ("POST /subscriptions", nil, SubscriptionRequest(plan: "plus")),
            ]
            return try bodies.map { place, path, body in
                let words = place.split(separator: " ").map(String.init)
                return Wanted(
                    place: place,
                    service: words[1] == "/subscriptions" ? .subscription : .transaction,
                    method: words[0],
                    path: path ?? words[1],
                    body: try RunningSuite.json(body)
                )
            }
        }

        private func approve(
            _ one: Wanted,
            by means: ApprovalChange.Means,
            _ person: Person,
            _ suite: RunningSuite,
            pin: String = RunningSuite.pin
        ) async throws -> String {
            guard means == .pin else {
                return try PaymentOrder.approve(one.body, by: person, method: one.method, path: one.path)
            }
            let hash = ApprovalText.sha256(one.body)
            let ask = ApprovalRequest(pin: pin, method: one.method, path: one.path, bodySha256: hash)
            let answer = try await suite.call(
                "POST",
                .auth,
                "/approvals",
                as: person.subject,
                body: RunningSuite.json(ask)
            )
            return ApprovalHeader.pin(token: try answer.decode(ApprovalResponse.self).approvalToken).value
        }
    }
}
