import Contracts
import Foundation
import Primitives
import TestSupport

extension RunningSuite {
    /// Orders a plan, approved by the person's phone.
    func orderPlan(_ person: Person, key: String = "system-\(UUID().lowercased)") async throws -> Reply {
        try await self.awaitDevice(of: person)
        let order = SubscriptionRequest(plan: "plus", price: 150_000)
        return try await self.order("/subscriptions", as: person, order, key: key, of: .subscription)
    }

    /// Until subscription knows the person and their phone.
    func awaitDevice(of person: Person) async throws {
        let sql = """
            SELECT count(*) FROM devices d JOIN subscriptions s USING (user_id)
            WHERE d.id = '\(person.device)' AND d.public_key IS NOT NULL
            """
        try await eventually("subscription to know the phone", within: .seconds(30), every: .milliseconds(50)) {
            try await self.number(sql, of: "subscription") == 1
        }
    }

    /// Waits until a person's plan, and perhaps its latest charge, stands so.
    @discardableResult
    func awaitPlan(
        of person: Person,
        _ word: String,
        charge: String? = nil
    ) async throws -> SubscriptionStatus {
        try await eventually("the plan to be \(word)", within: .seconds(40), every: .milliseconds(100)) {
            let answer = try await self.call("GET", .subscription, "/subscriptions/status", as: person.subject)
            let status = try answer.decode(SubscriptionStatus.self)
            guard status.status == word, charge == nil || status.lastCharge?.status == charge else {
                throw TestFailure("it is \(answer.text)")
            }
            return status
        }
    }

    /// Waits until so many periods are paid.
    func awaitCharges(of person: Person, _ count: Int) async throws {
        let sql = "SELECT count(*) FROM charges WHERE state = 'paid' AND user_id = '\(person.id)'"
        try await eventually("\(count) paid periods", within: .seconds(60), every: .milliseconds(100)) {
            let found = try await self.number(sql, of: "subscription")
            guard found == count else { throw TestFailure("there are \(found)") }
            return true
        }
    }
}
