import AnchorClient
import Foundation
import NIOHTTP1
import OutgoingHTTP
import Primitives
import Testing

@testable import SandboxService

@Suite("The sandbox bills as Anchor does", .timeLimit(.minutes(2)))
struct BillTests {
    private static let prices: JSON = ["transferFee": 2000, "stampDuty": 5000]

    /// A transfer to a bank that has completed.
    private func pays(_ reference: String, _ kobo: Int64, from account: String, _ sandbox: SandboxHandle) async throws {
        let bank = try await sandbox.counterparty()
        let order = Samples.order(reference, kobo: kobo, from: account, to: .counterparty(id: bank))
        _ = try await sandbox.client.createTransfer(order)
        let settled = try await sandbox.settled(reference)
        #expect(settled.status == .completed)
    }

    private func bills(of account: String, _ sandbox: SandboxHandle) async throws -> [AccountBill] {
        try await sandbox.client.transactions(accountID: account).rows.compactMap(\.bill)
    }

    /// No kobo is lost.
    private func isBalanced(_ sandbox: SandboxHandle) async throws -> Bool {
        let summary = try await sandbox.control(.get, "summary")
        let sums = ["total_in", "total_out", "total_ledger"].compactMap { summary[$0]?.number }
        return sums.count == 3 && sums[0] - sums[1] == sums[2]
    }

    @Test("nothing is billed before a price is set")
    func free() async throws {
        try await withSandbox { sandbox in
            let account = try await sandbox.personWithAccount(kobo: 5_000_000)
            try await self.pays("free-1", 2_000_000, from: account.id, sandbox)
            let listed = try await sandbox.control(.get, "bills")
            #expect(listed["total"] == 0)
            let ledger = try await sandbox.client.balance(accountID: account.id).ledger.kobo
            #expect(ledger == 3_000_000)
        }
    }

    @Test(
        "a customer is debited by rows of their own, with duty strictly above the amount; a reversal gives none back"
    )
    func customer() async throws {
        try await withSandbox { sandbox in
            let account = try await sandbox.personWithAccount(kobo: 5_000_000)
            try await sandbox.control(.patch, "switches", Self.prices)
            try await sandbox.control(.patch, "switches", ["billsTo": "customer"])
            try await self.pays("bill-1", 1_000_000, from: account.id, sandbox)
            let small = try await self.bills(of: account.id, sandbox)
            #expect(small.map(\.kind) == ["TRANSFER_FEE"] && small.map(\.reference) == ["bill-1"])
            try await self.pays("bill-2", 1_000_001, from: account.id, sandbox)
            let both = try await self.bills(of: account.id, sandbox)
            #expect(Set(both.map(\.kind)) == ["TRANSFER_FEE", "STAMP_DUTY"] && both.count == 3)
            #expect(Set(both.map(\.id)).count == 3)
            #expect(both.first { $0.kind == "STAMP_DUTY" }?.amount.kobo == 5000)
            let transfer = try await sandbox.client.transfer(reference: "bill-2")
            #expect(transfer?.amount.kobo == 1_000_001)
            let rows = try await sandbox.client.transactions(accountID: account.id).rows
            #expect(rows.filter { $0.feeType == nil }.count == 3)
            let before = try await sandbox.client.balance(accountID: account.id).ledger.kobo
            #expect(before == 5_000_000 - 2_000_001 - 9000)
            try await sandbox.control(.post, "transfers/bill-2/outcome", ["outcome": "reversed"])
            let after = try await sandbox.client.balance(accountID: account.id).ledger.kobo
            #expect(after == 5_000_000 - 1_000_000 - 9000)
            let isBalanced = try await self.isBalanced(sandbox)
            #expect(isBalanced)
            let listed = try await sandbox.control(.get, "bills?account=\(account.id)")
            let duty = listed["bills"]?.items?.first { $0["kind"] == "STAMP_DUTY" }
            #expect(duty?["narration"] == "Stamp Duty Fee for NIP Transfer" && duty?["reference"] == "bill-2")
        }
    }

    @Test("the organisation is billed on an account of its own, also for identities, and customers keep theirs")
    func organisation() async throws {
        try await withSandbox { sandbox in
            try await sandbox.control(.patch, "switches", Self.prices)
            try await sandbox.control(.patch, "switches", ["identityFee": 5000])
            let account = try await sandbox.personWithAccount(kobo: 5_000_000)
            try await self.pays("bill-1", 2_000_000, from: account.id, sandbox)
            let ledger = try await sandbox.client.balance(accountID: account.id).ledger.kobo
            #expect(ledger == 3_000_000)
            let listed = try await sandbox.control(.get, "bills")["bills"]?.items ?? []
            #expect(listed.map { $0["kind"] } == ["KYC_TIER_2", "TRANSFER_FEE", "STAMP_DUTY"])
            let payers = Set(listed.compactMap { $0["account"]?.text })
            #expect(payers.count == 1 && !payers.contains(account.id))
            let payer = try #require(payers.first)
            let owed = try await sandbox.client.balance(accountID: payer).ledger.kobo
            #expect(owed == -12_000)
            let isBalanced = try await self.isBalanced(sandbox)
            #expect(isBalanced)
        }
    }

    @Test("a book transfer and one that fails are free")
    func unbilled() async throws {
        try await withSandbox { sandbox in
            let payer = try await sandbox.personWithAccount(kobo: 5_000_000)
            let payee = try await sandbox.personWithAccount(email: "b@transfa.test")
            try await sandbox.control(.patch, "switches", Self.prices)
            let inside = Samples.order("book-1", kobo: 2_000_000, from: payer.id, to: .account(id: payee.id))
            _ = try await sandbox.client.createTransfer(inside)
            let moved = try await sandbox.settled("book-1")
            #expect(moved.status == .completed)
            let bank = try await sandbox.counterparty(number: "0123459990")
            let refused = Samples.order("fails-1", kobo: 2_000_000, from: payer.id, to: .counterparty(id: bank))
            _ = try await sandbox.client.createTransfer(refused)
            _ = try await sandbox.settled("fails-1")
            let listed = try await sandbox.control(.get, "bills")
            #expect(listed["total"] == 0)
        }
    }

    @Test("bills, their account and the prices survive a restart")
    func restart() async throws {
        try await withTemporaryDirectory { directory in
            try await withSandbox(directory: directory) { sandbox in
                let account = try await sandbox.personWithAccount(kobo: 5_000_000)
                try await sandbox.control(.patch, "switches", Self.prices)
                try await self.pays("kept-1", 2_000_000, from: account.id, sandbox)
            }
            try await withSandbox(directory: directory) { sandbox in
                let kept = try await sandbox.control(.get, "bills")["bills"]?.items ?? []
                #expect(kept.map { $0["reference"] } == ["kept-1", "kept-1"])
                let account = try await sandbox.personWithAccount(email: "b@transfa.test", kobo: 5_000_000)
                try await self.pays("kept-2", 100, from: account.id, sandbox)
                let all = try await sandbox.control(.get, "bills")["bills"]?.items ?? []
                #expect(all.count == 3 && Set(all.compactMap { $0["account"]?.text }).count == 1)
                #expect(Set(all.compactMap { $0["id"]?.text }).count == 3)
                let isBalanced = try await self.isBalanced(sandbox)
                #expect(isBalanced)
            }
        }
    }

    @Test("a bank sends money back with our reference or its own, of any amount, and a transfer is reversed long after")
    func returns() async throws {
        try await withSandbox { sandbox in
            let account = try await sandbox.personWithAccount(kobo: 5_000_000)
            try await self.pays("back-1", 2000, from: account.id, sandbox)
            let ours: JSON = ["amount": 1999, "reference": "back-1"]
            let theirs: JSON = ["amount": 2000, "reference": "BANK/77"]
            for money in [ours, theirs] { try await sandbox.control(.post, "accounts/\(account.id)/fund", money) }
            let number = try #require(account.number?.id)
            let listed = try await sandbox.client.inboundTransfers(accountNumberID: number).payments
            let returned = listed.filter { $0.amount.kobo < 5000 }
            #expect(Set(returned.compactMap(\.reference)) == ["back-1", "BANK/77"])
            try await sandbox.control(.post, "transfers/back-1/outcome", ["outcome": "reversed"])
            let late = try await sandbox.client.transfer(reference: "back-1")
            #expect(late?.status == .reversed)
        }
    }
}
