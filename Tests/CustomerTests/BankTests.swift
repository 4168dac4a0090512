import AnchorClient
import Contracts
import Foundation
import HTTPTypes
import Messaging
import Postgres
import Primitives
import ServiceKit
import ServiceTestSupport
import TestSupport
import Testing

@testable import CustomerService

@Suite("Banks and name enquiries", .serialized)
struct BankTests {
    private func refresh(_ world: CustomerWorld) async throws -> JobOutcome {
        try await world.work.transaction(cause: Cause()) { transaction in
            try await transaction.requeue(CustomerJob.refreshBanks, key: RefreshBanks.key)
        }
        return try await world.run(CustomerJob.refreshBanks, RefreshBanks.key) { try await world.refreshBanks($0) }
    }

    private func ask(_ number: String, bank: String = "000014", in world: CustomerWorld) async throws -> NameEnquiry {
        let account = try BankAccount(checking: BeneficiaryRequest(accountNumber: number, bankCode: bank))
        let enquire = EnquireName(users: world.users, enquiries: world.enquiries)
        return try await world.asAda { try await enquire(account, user: world.ada, key: world.adaKey, in: $0) }
    }

    private func answer(_ enquiry: NameEnquiry, in world: CustomerWorld) async throws -> JobOutcome {
        try await world.run(CustomerJob.enquireName, enquiry.id.lowercased) { try await world.answerEnquiry($0) }
    }

    @Test("the list is by name, in six digits, and its tag changes with it and only then")
    func list() async throws {
        try await withCustomer { world in
            #expect(try await world.banks.find(on: world.requests) == nil)
            #expect(try await self.refresh(world) == .done)
            let first = try #require(try await world.banks.find(on: world.requests))
            let banks = try JSONDecoder().decode(BankList.self, from: Data(first.body.utf8))
            #expect(
                banks.data == [
                    BankResource(code: "000057", name: "Short"), BankResource(code: "000014", name: "Test Bank"),
                ]
            )
            let isKnown = { (condition: String?) in
                var headers = HTTPFields()
                headers[.ifNoneMatch] = condition
                return EntityTag(text: first.etag).isKnown(to: headers)
            }
            #expect(isKnown(first.etag) && isKnown("\"x\", W/\(first.etag)") && isKnown("*"))
            #expect(!isKnown(nil) && !isKnown("\"x\""))

            world.provider.setBanks([
                Bank(id: "2-anc_bk", name: "Short", nipCode: "57"),
                Bank(id: "1-anc_bk", name: "Test Bank", nipCode: "000014"),
            ])
            #expect(try await self.refresh(world) == .done)
            #expect(try await world.banks.find(on: world.requests) == first)
            world.provider.setBanks([Bank(id: "3-anc_bk", name: "New", nipCode: "000001")])
            #expect(try await self.refresh(world) == .done)
            #expect(try await world.banks.find(on: world.requests)?.etag != first.etag)
        }
    }

    @Test("while the provider is away, or names no bank, the list stays as it was")
    func stale() async throws {
        try await withCustomer { world in
            #expect(try await self.refresh(world) == .done)
            let known = try await world.banks.find(on: world.requests)
            world.provider.refuseNext(.timedOut(sent: true))
            guard case .again = try await self.refresh(world) else {
                Issue.record("it is not asked again")
                return
            }
            world.provider.setBanks([])
            #expect(try await self.refresh(world) == .again(reason: "no_banks", after: nil))
            #expect(try await world.banks.find(on: world.requests) == known)
        }
    }

    @Test("the bank says whose account it is; number and name rest sealed")
    func found() async throws {
        try await withCustomer { world in
            try await world.adaSignsUp()
            world.provider.addAccount("0123456789", holder: "ADAEZE OKONKWO")
            let asked = try await self.ask("0123456789", in: world)
            #expect(EnquiryResource(asked, key: world.adaKey).status == "pending")
            #expect(try await self.answer(asked, in: world) == .done)
            let found = try #require(try await world.enquiries.find(asked.id, of: world.ada, on: world.requests))
            let resource = EnquiryResource(found, key: world.adaKey)
            #expect(resource.status == "found" && resource.accountName == "ADAEZE OKONKWO")
            #expect(resource.accountNumber == "******6789" && resource.bankName == "Test Bank")
            let rows = try await world.database.psql("SELECT e::text FROM name_enquiries e").joined()
            #expect(!rows.contains("0123456789") && !rows.contains("OKONKWO"))
            // Nothing was added, nobody heard of it, and nobody else sees it.
            #expect(try await world.said() == [])
            let stranger = UserID(clerkSubject: "user_bayo")
            #expect(try await world.enquiries.find(asked.id, of: stranger, on: world.requests) == nil)
            let seen = try await world.requests.client.query("SELECT id FROM name_enquiries", as: stranger.uuid)
            #expect(seen.isEmpty)
        }
    }

    @Test("an account or a bank that there is not is told so, and a lost answer is asked for again")
    func rejected() async throws {
        try await withCustomer { world in
            try await world.adaSignsUp()
            let reason = { (enquiry: NameEnquiry) in
                try await world.enquiries.find(enquiry.id, of: world.ada, on: world.requests)?.rejectReason
            }
            let unknown = try await self.ask("0123456789", in: world)
            world.provider.addAccount("0123456780", holder: "ADAEZE OKONKWO")
            #expect(try await self.answer(unknown, in: world) == .done)
            #expect(try await reason(unknown) == .accountNotFound)
            let elsewhere = try await self.ask("0123456780", bank: "999999", in: world)
            #expect(try await self.answer(elsewhere, in: world) == .done)
            #expect(try await reason(elsewhere) == .unknownBank)
            let lost = try await self.ask("0123456780", in: world)
            world.provider.refuseNext(.timedOut(sent: true))
            guard case .again = try await self.answer(lost, in: world) else {
                Issue.record("it is not asked again")
                return
            }
            #expect(try await self.answer(lost, in: world) == .done)
            #expect(try await world.enquiries.find(lost.id, of: world.ada, on: world.requests)?.status == .found)
        }
    }

    @Test("nobody asks for more than thirty names an hour, and what was asked is forgotten after a day")
    func bounds() async throws {
        try await withCustomer { world in
            await #expect(throws: CustomerError.notOnboarded) { try await self.ask("0123456789", in: world) }
            try await world.adaSignsUp()
            let first = try await self.ask("0123456789", in: world)
            for _ in 1..<NameEnquiry.hourlyLimit { _ = try await self.ask("0123456789", in: world) }
            await #expect(throws: CustomerError.tooManyEnquiries) { try await self.ask("0123456789", in: world) }
            world.clock.advance(by: .seconds(3601))
            _ = try await self.ask("0123456789", in: world)
            // Nobody waits for it any more.
            #expect(try await self.answer(first, in: world) == .cancelled(reason: "too_old"))
            world.clock.advance(by: .seconds(86_400 - 1800))
            try await world.work.transaction(cause: Cause()) { try await world.enquiries.prune(in: $0) }
            #expect(try await world.database.psql("SELECT count(*) FROM name_enquiries") == ["1"])
        }
    }

    @Test("waiting ends with the answer, or with the time")
    func waiting() async throws {
        let answers = [false, false, true]
        var looks = 0
        let isThere = try await AwaitAnswer(limit: .seconds(30))(
            {
                looks += 1
                return answers[looks - 1]
            },
            while: { !$0 }
        )
        #expect(isThere && looks == 3)
        #expect(try await !AwaitAnswer(limit: .milliseconds(30))({ false }, while: { !$0 }))
    }
}
