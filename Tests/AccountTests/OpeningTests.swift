import AnchorClient
import Contracts
import Foundation
import Messaging
import Primitives
import Sealing
import ServiceKit
import ServiceTestSupport
import TestSupport
import Testing

@testable import AccountService

@Suite("Opening a wallet", .serialized)
struct OpeningTests {
    @Test("whichever of the two events is second asks for the account", arguments: [true, false])
    func order(createdFirst: Bool) async throws {
        try await withAccount { world in
            if createdFirst {
                try await world.adaIsCustomer()
                #expect(try await world.database.psql("SELECT kind FROM jobs").isEmpty)
                try await world.adaIsVerified()
            } else {
                try await world.adaIsVerified()
                #expect(try await world.open() == .again(reason: "customer_unknown", after: nil))
                try await world.adaIsCustomer()
            }
            #expect(try await world.open() == .done)
            #expect(world.provider.accounts.count == 1)
            let calls = try await world.database.psql("SELECT operation, outcome FROM provider_calls")
            #expect(calls == ["create_account|accepted"])
        }
    }

    @Test("a person gets a savings account and a merchant a current one")
    func kinds() async throws {
        try await withAccount { world in
            try await world.adaIsCustomer(.merchant)
            try await world.adaIsVerified()
            #expect(try await world.open() == .done)
            #expect(world.provider.kinds == [.business])
        }
    }

    @Test("when the answer was lost, the next attempt waits, looks, and adopts what was opened")
    func lostAnswer() async throws {
        try await withAccount { world in
            try await world.adaIsCustomer()
            try await world.adaIsVerified()
            world.provider.loseNextAnswer()
            #expect(try await world.open() == .again(reason: "timed out", after: OpenAccount.settlingTime))
            #expect(try await world.open() == .done)
            #expect(world.provider.accounts.count == 1)
            #expect(try await world.database.psql("SELECT anchor_account_id FROM accounts") == ["1-anc_acc"])
        }
    }

    @Test("the number is asked for until it is there, sealed, and announced once")
    func number() async throws {
        try await withAccount { world in
            try await world.adaIsCustomer()
            try await world.adaIsVerified()
            #expect(try await world.open() == .done)
            #expect(try await world.fetch() == .again(reason: "number_not_assigned", after: nil))
            world.provider.assignNumber("9000000001", name: "ADA OKONKWO")
            #expect(try await world.fetch() == .done)
            let event = try #require(try await world.said(AccountOpened.self).first)
            let number = try world.adaKey.text(
                in: event.accountNumber,
                field: "account.account_number",
                of: world.ada
            )
            #expect(number == "9000000001")
            #expect(try await world.database.psql("SELECT account_number FROM accounts")[0].hasPrefix("s1."))
            try await world.hear(ProviderAccountOpened(anchorAccountID: "1-anc_acc"), sequence: 1)
            #expect(try await world.said(AccountOpened.self).count == 1)
            #expect(try await world.database.psql("SELECT state FROM jobs WHERE kind = 'fetch_account'") == ["done"])
        }
    }

    @Test("a user sees the own account only, and '[erased]' once the key is gone")
    func reading() async throws {
        try await withAccount { world in
            try await world.adaHasWallet()
            let bola = UserID(clerkSubject: "user_bola")
            #expect(try await world.accounts.find(world.ada, as: bola, on: world.requests) == nil)
            let seen = try #require(try await world.accounts.find(world.ada, as: world.ada, on: world.requests))
            #expect(AccountResource(seen, key: world.adaKey).accountNumber == "9000000001")
            try await world.hear(UserErased(userID: world.ada.uuid), sequence: 9)
            let erased = try #require(try await world.accounts.find(world.ada, as: world.ada, on: world.requests))
            #expect(AccountResource(erased, key: nil).accountNumber == SealedField.erasedText)
            #expect(erased.accountNumber == nil)
        }
    }

    @Test("a user who is erased while the number is fetched gets none, and the job is cancelled")
    func erased() async throws {
        try await withAccount { world in
            try await world.adaIsCustomer()
            try await world.adaIsVerified()
            #expect(try await world.open() == .done)
            world.provider.assignNumber("9000000001", name: "ADA OKONKWO")
            world.keys.erase(world.ada)
            #expect(try await world.fetch() == .cancelled(reason: "erased"))
            #expect(try await world.said(AccountOpened.self).isEmpty)
        }
    }
}
