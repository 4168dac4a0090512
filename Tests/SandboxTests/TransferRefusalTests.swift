import AnchorClient
import Foundation
import NIOHTTP1
import OutgoingHTTP
import Primitives
import Testing

@testable import SandboxService

/// One way to send a transfer wrong.
struct WrongTransfer: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let changes: [String: JSON]
    let says: String

    init(_ description: String, _ changes: [String: JSON], says: String) {
        self.testDescription = description
        self.changes = changes
        self.says = says
    }

    static let all = [
        WrongTransfer("an upper-case reference", ["reference": "RAW-1"], says: "reference must match"),
        WrongTransfer("a reference with a dot", ["reference": "raw.1"], says: "reference must match"),
        WrongTransfer("an empty reference", ["reference": ""], says: "reference size"),
        WrongTransfer(
            "a reference of 101 characters",
            ["reference": .string(String(repeating: "a", count: 101))],
            says: "reference size"
        ),
        WrongTransfer("no reason", ["reason": .null], says: "reason must not be blank"),
        WrongTransfer("a blank reason", ["reason": "   "], says: "reason must not be blank"),
        WrongTransfer(
            "a reason of 101 characters",
            ["reason": .string(String(repeating: "r", count: 101))],
            says: "reason size"
        ),
        WrongTransfer("99 kobo by NIP", ["amount": 99], says: "amount must be greater"),
        WrongTransfer("a negative amount", ["amount": -1000], says: "amount must be greater"),
        WrongTransfer("a decimal amount", ["amount": .decimal(1000.5)], says: "whole number"),
        WrongTransfer("an amount as text", ["amount": "1000"], says: "whole number"),
        WrongTransfer("no amount", ["amount": .null], says: "whole number"),
        WrongTransfer("another currency", ["currency": "USD"], says: "currency"),
        WrongTransfer("more than there is", ["amount": 1_000_000_000], says: "Insufficient balance"),
    ]
}

@Suite("The sandbox refuses transfers that Anchor refuses", .timeLimit(.minutes(2)))
struct TransferRefusalTests {
    @Test("a wrong transfer is refused with 400 and changes nothing", arguments: WrongTransfer.all)
    func wrongTransfer(_ wrong: WrongTransfer) async throws {
        try await withSandbox { sandbox in
            let account = try await sandbox.personWithAccount(kobo: 500_000)
            let bank = try await sandbox.counterparty()
            let body = sandbox.rawTransfer(from: account.id, to: bank, changing: wrong.changes)
            let (status, json) = try await sandbox.send(.post, "/api/v1/transfers", body)
            #expect(status == 400)
            let said = json["errors"]?.items?.first
            #expect(said?["status"] == "400")
            #expect(said?["detail"]?.text?.contains(wrong.says) == true)
            let balance = try await sandbox.client.balance(accountID: account.id)
            #expect(balance.available.kobo == 500_000)
            let log = try await sandbox.control(.get, "log?type=transfer_accepted")
            #expect(log["entries"] == [])
        }
    }

    @Test("unknown accounts and counterparties are not found")
    func unknownIDs() async throws {
        try await withSandbox { sandbox in
            let account = try await sandbox.personWithAccount(kobo: 500_000)
            let bank = try await sandbox.counterparty()
            let bodies = [
                sandbox.rawTransfer(from: "1-anc_acc", to: bank), sandbox.rawTransfer(from: account.id, to: "1-anc_cp"),
            ]
            for body in bodies {
                let (status, json) = try await sandbox.send(.post, "/api/v1/transfers", body)
                #expect(status == 404)
                #expect(json["errors"]?.items?.first?["title"] == "Not found")
            }
            await #expect(throws: AnchorError.notFound) { try await sandbox.client.transfer(id: "1-anc_trsf") }
            #expect(try await sandbox.client.transfer(reference: "no-such-thing") == nil)
        }
    }

    @Test("a removed counterparty takes no money")
    func removedCounterparty() async throws {
        try await withSandbox { sandbox in
            let account = try await sandbox.personWithAccount(kobo: 500_000)
            let bank = try await sandbox.counterparty()
            try await sandbox.client.deleteCounterparty(id: bank)
            try await sandbox.client.deleteCounterparty(id: bank)
            let order = Samples.order("gone-1", kobo: 1000, from: account.id, to: .counterparty(id: bank))
            await #expect(throws: AnchorError.notFound) { try await sandbox.client.createTransfer(order) }
        }
    }

    @Test("a frozen account pays nothing")
    func frozenAccount() async throws {
        try await withSandbox { sandbox in
            let account = try await sandbox.personWithAccount(kobo: 500_000)
            let bank = try await sandbox.counterparty()
            let (status, _) = try await sandbox.send(.post, "/api/v1/accounts/\(account.id)/freeze", [:])
            #expect(status == 200)
            let order = Samples.order("frozen-1", kobo: 1000, from: account.id, to: .counterparty(id: bank))
            await #expect(throws: AnchorError.refused(status: 400, title: "Bad Request", code: .other)) {
                try await sandbox.client.createTransfer(order)
            }
        }
    }

    @Test("a repeated reference without its key is refused, replayed or taken, as the switch says")
    func duplicateReferences() async throws {
        try await withSandbox { sandbox in
            let account = try await sandbox.personWithAccount(kobo: 500_000)
            let bank = try await sandbox.counterparty()
            let body = sandbox.rawTransfer(from: account.id, to: bank)
            let first = try await sandbox.send(.post, "/api/v1/transfers", body)
            #expect(first.status == 200)
            #expect(try await sandbox.send(.post, "/api/v1/transfers", body).status == 409)
            try await sandbox.control(.patch, "switches", ["duplicateReference": "replay"])
            let replayed = try await sandbox.send(.post, "/api/v1/transfers", body)
            #expect(replayed.json["data"]?["id"] == first.json["data"]?["id"])
            try await sandbox.control(.patch, "switches", ["duplicateReference": "accept"])
            let second = try await sandbox.send(.post, "/api/v1/transfers", body)
            #expect(second.json["data"]?["id"] != first.json["data"]?["id"])
            #expect(try await sandbox.control(.get, "references/raw-1")["accepted"] == 2)
            #expect(try await sandbox.control(.get, "summary")["duplicate_references"] == ["raw-1"])
        }
    }
}
