import Foundation
import TestSupport
import Testing

extension RunningSuite {
    /// Small sums take free slots too, also where the suite was not made by these tests.
    func letSmallSumsTakeSlots() async throws {
        try await self.rows("transaction", "INSERT INTO slot_minimums VALUES ('2020-01-01', 1) ON CONFLICT DO NOTHING")
    }

    /// Orders a book transfer past us and gives the provider's id of it.
    func orderElsewhere(
        from payer: Person,
        to payee: Person,
        _ amount: Int64,
        reference: String? = nil
    ) async throws -> String {
        struct Taken: Decodable {
            struct Transfer: Decodable {
                let id: String
            }

            let data: Transfer
        }
        let reference = reference ?? "by-hand-\(payer.username)"
        var accounts: [String] = []
        for person in [payer, payee] {
            let sql = "SELECT provider_account FROM users WHERE id = '\(person.id)'"
            accounts += try await self.rows("transaction", sql)
        }
        try #require(accounts.count == 2)
        let link = #"{"data":{"type":"DepositAccount","id":""#
        let order = """
            {"data":{"type":"BookTransfer","attributes":{"amount":\(amount),"currency":"NGN","reason":"by hand",
            "reference":"\(reference)"},"relationships":{"account":\(link)\(accounts[0])"}},
            "destinationAccount":\(link)\(accounts[1])"}}}}}
            """
        let answer = try await self.send(
            "POST",
            self.environment.publicURL(SuiteEnvironment.sandbox) + "/api/v1/transfers",
            headers: ["x-anchor-key": self.environment.apiKey],
            body: Array(order.utf8)
        )
        let id = try answer.decode(Taken.self).data.id
        try await eventually("the transfer by hand", within: .seconds(20), every: .milliseconds(100)) {
            try await self.sandbox("GET", "/sandbox/references/\(reference)").text.contains("COMPLETED")
        }
        return id
    }
}
