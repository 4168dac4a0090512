import AnchorClient
import Foundation
import NIOHTTP1
import OutgoingHTTP
import Primitives
import Testing

@testable import SandboxService

@Suite("AnchorClient works the provider's way", .timeLimit(.minutes(2)))
struct AnchorClientTests {
    @Test("a person is created, verified, gets an account with a number and is funded")
    func person() async throws {
        try await withSandbox { sandbox in
            let account = try await sandbox.personWithAccount(kobo: 1_000_000)
            let number = try #require(account.number)
            #expect(number.number.count == 10)
            #expect(number.accountName == "Test Person")
            let balance = try await sandbox.client.balance(accountID: account.id)
            #expect(balance.available.kobo == 1_000_000)
            #expect(balance.hold == .zero)
            let customer = try #require(account.customerID)
            let accounts = try await sandbox.client.accounts(customerID: customer)
            #expect(accounts.map(\.id) == [account.id])
            let page = try await sandbox.client.transactions(accountID: account.id)
            #expect(page.rows.map(\.amount.kobo) == [1_000_000])
            #expect(page.rows.map(\.direction) == [.credit])
        }
    }

    @Test("transfers are listed for who pays and for who is paid, from a day on, in pages, with what was booked")
    func transferLists() async throws {
        try await withSandbox { sandbox in
            let payer = try await sandbox.personWithAccount(kobo: 10_000)
            let payee = try await sandbox.client.createDepositAccount(
                customerID: try #require(payer.customerID),
                kind: .individual
            )
            for number in 0..<3 {
                let order = Samples.order("list-\(number)", kobo: 100, from: payer.id, to: .account(id: payee.id))
                _ = try await sandbox.client.createTransfer(order)
                _ = try await sandbox.settled("list-\(number)")
            }
            let client = sandbox.client
            let first = try await client.transfers(accountID: payer.id, side: .source, size: 2)
            let second = try await client.transfers(accountID: payer.id, side: .source, page: 1, size: 2)
            #expect(first.hasMore && !second.hasMore)
            let references = Set((first.transfers + second.transfers).map(\.reference))
            #expect(references == ["list-0", "list-1", "list-2"])
            let received = try await client.transfers(accountID: payee.id, side: .destination)
            #expect(Set(received.transfers.map(\.reference)) == references)
            #expect(received.transfers.allSatisfy { $0.sourceAccountID == payer.id })
            #expect(try await client.transfers(accountID: payee.id, side: .source).transfers.isEmpty)
            let tomorrow = LagosCalendar.day(of: Date()).adding(days: 2)
            let none = try await client.transfers(accountID: payer.id, side: .source, from: tomorrow)
            #expect(none.transfers.isEmpty && !none.hasMore)

            try await sandbox.control(.post, "transfers/list-1/amount", ["amount": 150])
            #expect(try await client.transfer(reference: "list-1")?.amount.kobo == 150)
            #expect(try await client.balance(accountID: payer.id).ledger.kobo == 10_000 - 350)
            #expect(try await client.balance(accountID: payee.id).ledger.kobo == 350)
            let summary = try await sandbox.control(.get, "summary")
            #expect(summary["total_ledger"]?.number == summary["total_in"]?.number)
        }
    }

    @Test("a business is created, verified and gets a current account")
    func business() async throws {
        try await withSandbox { sandbox in
            let business = Samples.business(email: "shop@transfa.test")
            let customer = try await sandbox.client.createBusinessCustomer(business)
            #expect(customer.kind == .business)
            #expect(try await sandbox.client.findCustomer(email: "shop@transfa.test") == customer)
            try await sandbox.client.startBusinessVerification(customerID: customer.id)
            _ = try await sandbox.eventually("approval") {
                try await sandbox.client.customer(id: customer.id).verification == .approved ? true : nil
            }
            let account = try await sandbox.client.createDepositAccount(customerID: customer.id, kind: .business)
            #expect(account.customerID == customer.id)
            #expect(account.number == nil)
        }
    }

    @Test("a name enquiry gives a name, or nil for nobody's number")
    func nameEnquiry() async throws {
        try await withSandbox { sandbox in
            let banks = try await sandbox.client.banks()
            let bank = try #require(banks.first)
            #expect(try await sandbox.client.verifyAccount(bank: bank.nipCode, number: "0123456789") != nil)
            #expect(try await sandbox.client.verifyAccount(bank: bank.id, number: "0123456789") != nil)
            #expect(try await sandbox.client.verifyAccount(bank: bank.nipCode, number: "0123450000") == nil)
            #expect(try await sandbox.counterparty() == sandbox.counterparty())
        }
    }

    @Test("a NIP transfer holds the money, then takes it")
    func nip() async throws {
        try await withSandbox { sandbox in
            let account = try await sandbox.personWithAccount(kobo: 500_000)
            let bank = try await sandbox.counterparty()
            try await sandbox.control(.patch, "switches", ["transferOutcome": "never"])
            let order = Samples.order("nip-1", kobo: 120_000, from: account.id, to: .counterparty(id: bank))
            let taken = try await sandbox.client.createTransfer(order)
            #expect(taken.status == .pending)
            #expect(taken.rail == .nip)
            let held = try await sandbox.client.balance(accountID: account.id)
            #expect([held.available.kobo, held.ledger.kobo, held.hold.kobo] == [380_000, 500_000, 120_000])
            try await sandbox.control(.post, "transfers/nip-1/outcome", ["outcome": "completed"])
            #expect(try await sandbox.settled("nip-1").status == .completed)
            let paid = try await sandbox.client.balance(accountID: account.id)
            #expect([paid.available.kobo, paid.ledger.kobo, paid.hold.kobo] == [380_000, 380_000, 0])
            #expect(try await sandbox.client.transfer(id: taken.id).status == .completed)
            #expect(try await sandbox.client.verifyTransfer(id: taken.id).reference == "nip-1")
        }
    }

    @Test("a book transfer moves money between accounts, at once when the switch says so", arguments: [false, true])
    func book(isSynchronous: Bool) async throws {
        try await withSandbox { sandbox in
            try await sandbox.control(.patch, "switches", ["bookSynchronous": .bool(isSynchronous)])
            let payer = try await sandbox.personWithAccount(kobo: 500_000)
            let payee = try await sandbox.personWithAccount(email: "b@transfa.test")
            let order = Samples.order("book-1", kobo: 120_000, from: payer.id, to: .account(id: payee.id))
            let taken = try await sandbox.client.createTransfer(order)
            #expect(taken.status == (isSynchronous ? .completed : .pending))
            #expect(try await sandbox.settled("book-1").status == .completed)
            #expect(try await sandbox.client.balance(accountID: payer.id).available.kobo == 380_000)
            #expect(try await sandbox.client.balance(accountID: payee.id).available.kobo == 120_000)
            let summary = try await sandbox.control(.get, "summary")
            #expect(summary["total_ledger"] == 500_000)
        }
    }

    @Test("the recipient's number decides the outcome", arguments: [("9990", "FAILED"), ("9991", "REVERSED")])
    func outcomes(_ ending: String, _ status: String) async throws {
        try await withSandbox { sandbox in
            try await sandbox.control(.patch, "switches", ["reversalDelayMs": 20])
            let account = try await sandbox.personWithAccount(kobo: 500_000)
            let bank = try await sandbox.counterparty(number: "012345" + ending)
            let order = Samples.order("end-1", kobo: 120_000, from: account.id, to: .counterparty(id: bank))
            _ = try await sandbox.client.createTransfer(order)
            let wanted = TransferStatus(wire: status, failureReason: status == "FAILED" ? "DO_NOT_HONOR" : nil)
            _ = try await sandbox.eventually("the outcome") {
                try await sandbox.client.transfer(reference: "end-1")?.status == wanted ? true : nil
            }
            #expect(try await sandbox.client.balance(accountID: account.id).available.kobo == 500_000)
        }
    }

    @Test("missing funds can also be a later failure that moves nothing")
    func lateShortage() async throws {
        try await withSandbox { sandbox in
            try await sandbox.control(.patch, "switches", ["insufficientFunds": "fail"])
            let account = try await sandbox.personWithAccount(kobo: 500)
            let bank = try await sandbox.counterparty()
            let order = Samples.order("short-1", kobo: 1000, from: account.id, to: .counterparty(id: bank))
            #expect(try await sandbox.client.createTransfer(order).status == .pending)
            #expect(try await sandbox.settled("short-1").status == .failed(reason: "INSUFFICIENT_BALANCE"))
            let balance = try await sandbox.client.balance(accountID: account.id)
            #expect([balance.available.kobo, balance.hold.kobo] == [500, 0])
        }
    }

    @Test("an inbound payment is announced, then settled")
    func inbound() async throws {
        try await withSandbox { sandbox in
            let account = try await sandbox.personWithAccount()
            let fund: JSON = ["amount": 7000, "settle_delay_ms": 3_600_000, "reference": "their-ref"]
            let id = try await sandbox.control(.post, "accounts/\(account.id)/fund", fund)["id"]?.text
            let payment = try await sandbox.client.inboundPayment(id: #require(id))
            #expect(payment.amount.kobo == 7000)
            #expect(payment.accountID == account.id)
            #expect(payment.reference == "their-ref")
            #expect(!payment.isSettled)
            #expect(try await sandbox.client.balance(accountID: account.id).pending.kobo == 7000)
            try await sandbox.control(.post, "payments/\(payment.id)/settle")
            #expect(try await sandbox.client.inboundPayment(id: payment.id).isSettled)
            #expect(try await sandbox.client.balance(accountID: account.id).available.kobo == 7000)
        }
    }

    @Test("inbound payments are listed by account number, newest first, in pages")
    func inboundPages() async throws {
        try await withSandbox { sandbox in
            let account = try await sandbox.personWithAccount()
            for amount in [100, 200, 300] as [Int64] {
                try await sandbox.control(
                    .post,
                    "accounts/\(account.id)/fund",
                    ["amount": .integer(amount)]
                )
            }
            let number = try #require(await sandbox.client.depositAccount(id: account.id).number?.id)
            #expect(number.hasSuffix("-anc_acc_num"))
            let first = try await sandbox.client.inboundTransfers(accountNumberID: number, page: 0, size: 2)
            #expect(first.payments.map(\.amount.kobo) == [300, 200])
            #expect(first.payments.allSatisfy { $0.accountID == account.id && $0.isSettled })
            #expect(first.pageCount == 2)
            let second = try await sandbox.client.inboundTransfers(accountNumberID: number, page: 1, size: 2)
            #expect(second.payments.map(\.amount.kobo) == [100])
            let nobodys = try await sandbox.client.inboundTransfers(accountNumberID: "1-anc_acc_num", page: 0, size: 2)
            #expect(nobodys.payments.isEmpty)
        }
    }

    @Test("a payment can be read as a transfer and as a payment, with two ids and one reference")
    func twins() async throws {
        try await withSandbox { sandbox in
            let account = try await sandbox.personWithAccount()
            let fund: JSON = ["amount": 7000, "events": "twin"]
            let id = try await sandbox.control(.post, "accounts/\(account.id)/fund", fund)["id"]?.text
            let transfer = try await sandbox.client.inboundPayment(id: #require(id))
            let twin = transfer.id.replacingOccurrences(of: "-anc_inb_trsf", with: "-anc_py")
            let payment = try await sandbox.client.inboundPayment(id: twin)
            #expect(payment.id == twin)
            #expect(payment.reference == transfer.reference && payment.reference?.hasSuffix("-ref") == true)
            #expect(payment.accountID == account.id && payment.amount == transfer.amount)
        }
    }
}
