import Contracts
import Foundation
import Primitives
import Sealing
import TestSupport
import Testing

extension Journeys {
    /// Many people who want the same thing at once, through two processes of transaction.
    @Suite struct CrowdTests {
        private static let size = 10

        @Test("of a crowd that claims at once as many are paid as there are slots; what the expiry leaves goes back")
        func claimants() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("crowdada", funding: 100_000)
            let crowd = try await suite.crowd("claims", Self.size)
            try await suite.withReplica(of: "transaction") { replica in
                let later = Timestamp.text(Date().addingTimeInterval(86_400))
                let few = try await suite.drop(
                    by: ada,
                    MoneyDropRequest(amountPerClaim: 5000, slots: 4, expiresAt: later)
                )
                let claims = try await suite.claimAtOnce(few.moneyDropID, by: crowd, at: [nil, replica])
                let refused = Array(repeating: 422, count: Self.size - 4)
                #expect(claims.map(\.status).sorted() == Array(repeating: 202, count: 4) + refused)
                #expect(Set(claims.compactMap { $0.error?.code }) == ["drop_exhausted"])
                try await eventually("the drop to end", within: .seconds(40), every: .milliseconds(100)) {
                    let path = "/money-drops/\(few.moneyDropID.lowercased)"
                    return try await suite.read(path, as: ada, MoneyDropResource.self).endReason == "claimed"
                }
                #expect(try await suite.total(of: crowd) == 20_000)

                // More slots than people, claimed around the moment at which the time is over.
                let many = try await suite.drop(
                    by: ada,
                    MoneyDropRequest(amountPerClaim: 1000, slots: 20, expiresAt: later)
                )
                try await suite.expire(many, in: 250)
                let last = try await suite.claimAtOnce(many.moneyDropID, by: crowd, at: [nil, replica], apart: 50)
                let paid = last.filter { $0.status == 202 }.count
                let late = Set(last.filter { $0.status != 202 }.compactMap { $0.error?.code })
                #expect(late.isSubset(of: ["drop_expired"]))
                try await eventually("claims and rest to arrive", within: .seconds(60), every: .milliseconds(100)) {
                    let (mine, theirs) = (try await suite.wallet(ada).posted, try await suite.total(of: crowd))
                    guard mine == 80_000 - Int64(paid) * 1000, theirs == 20_000 + Int64(paid) * 1000 else {
                        throw TestFailure("\(paid) claims, and the wallets have \(mine) and \(theirs)")
                    }
                    return true
                }
                let refunds =
                    "SELECT count(*) FROM transfers WHERE type = 'drop_refund' AND parent_id = '\(many.moneyDropID)'"
                #expect(try await suite.number(refunds) == 1)
            }
            #expect(try await suite.brokenInvariants() == [])
        }

        @Test("a crowd pays one request at once: one of them does, and the others keep their money")
        func payers() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("crowdasks")
            let crowd = try await suite.crowd("pays", Self.size, funding: 10_000)
            let asked = try await suite.ask(as: ada, PaymentRequestRequest(amount: 7000))
            let path = "/payment-requests/\(asked.id.lowercased)"
            let answers = try await suite.withReplica(of: "transaction") { replica in
                let answers = try await suite.atOnce(crowd, at: [nil, replica]) { person, replica in
                    let body = try RunningSuite.json(PayRequestRequest())
                    let approval = try PaymentOrder.approve(body, by: person, path: path + "/pay")
                    return try await suite.post(path + "/pay", as: person, body, approval: approval, at: replica)
                }
                try await eventually("the request to be fulfilled", within: .seconds(40), every: .milliseconds(100)) {
                    try await suite.read(path, as: ada, PaymentRequestResource.self).status == "fulfilled"
                }
                return answers
            }
            let refused = answers.filter { $0.status != 202 }
            #expect(refused.count == Self.size - 1)
            let codes = Set(refused.map { "\($0.status) \($0.error?.code ?? "")" })
            #expect(codes.isSubset(of: ["409 request_in_payment", "422 request_paid"]))
            #expect(try await suite.wallet(ada).posted == 7000)
            #expect(try await suite.total(of: crowd) == Int64(Self.size) * 10_000 - 7000)
            #expect(try await suite.brokenInvariants() == [])
        }
    }
}

extension RunningSuite {
    /// Signs people up, a few side by side.
    fileprivate func crowd(_ name: String, _ count: Int, funding: Int64 = 0) async throws -> [Person] {
        try await withThrowingTaskGroup(of: Person.self) { group in
            var people: [Person] = []
            for number in 0..<count {
                if number >= 3, let person = try await group.next() { people.append(person) }
                group.addTask { try await self.person(name, funding: funding) }
            }
            return try await group.reduce(into: people) { $0.append($1) }
        }
    }

    /// What the wallets of people hold together.
    fileprivate func total(of people: [Person]) async throws -> Int64 {
        var total: Int64 = 0
        for person in people { total += try await self.wallet(person).posted }
        return total
    }

    /// Each person once, all at the same time, at one process after the other.
    fileprivate func atOnce(
        _ people: [Person],
        at targets: [Replica?],
        _ ask: @escaping @Sendable (Person, Replica?) async throws -> Reply
    ) async throws -> [Reply] {
        // Once beforehand, so that the sandbox is not asked for as many tokens.
        for person in people { _ = try await self.token(of: person.subject) }
        return try await withThrowingTaskGroup(of: Reply.self) { group in
            for (number, person) in people.enumerated() {
                group.addTask { try await ask(person, targets[number % targets.count]) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// Claims of people, all at the same time or so many milliseconds apart.
    fileprivate func claimAtOnce(
        _ drop: UUID,
        by people: [Person],
        at targets: [Replica?],
        apart milliseconds: Int = 0
    ) async throws -> [Reply] {
        let places = Dictionary(uniqueKeysWithValues: people.enumerated().map { ($1.subject, $0) })
        return try await self.atOnce(people, at: targets) { person, replica in
            try await Task.sleep(for: .milliseconds(milliseconds * places[person.subject, default: 0]))
            let body = try RunningSuite.json(ClaimRequest())
            return try await self.post("/money-drops/\(drop.lowercased)/claim", as: person, body, at: replica)
        }
    }

    /// A change in a person's name, asked of the suite's own process or of a replica.
    fileprivate func post(
        _ path: String,
        as person: Person,
        _ body: [UInt8],
        approval: String? = nil,
        at replica: Replica?
    ) async throws -> Reply {
        let token = try await self.token(of: person.subject)
        var headers = ["Idempotency-Key": "system-\(UUID().lowercased)", "Authorization": "Bearer \(token)"]
        headers[ApprovalHeader.name] = approval
        let address = replica?.url ?? self.environment.publicURL("transaction")
        return try await self.send("POST", address + path, headers: headers, body: body)
    }
}
