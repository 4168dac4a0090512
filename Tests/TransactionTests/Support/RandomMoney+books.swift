import AnchorClient
import Contracts
import Foundation
import Messaging
import Postgres
import Primitives
import ServiceTestSupport
import TestSupport

@testable import TransactionService

extension RandomMoney {
    /// A message of the provider's is handled, as its jobs do.
    func hears(_ message: RudeProvider.Message) async throws {
        switch message {
        case .ended(let reference, let id, let status):
            let word: ProviderTransferStatus
            switch status {
            case .completed: word = .successful
            case .failed: word = .failed
            case .reversed: word = .reversed
            case .pending, .open: return
            }
            let fact = ProviderTransferUpdated(
                anchorTransferID: id,
                reference: reference,
                status: .known(word),
                providerEventID: "\(self.world.ids.next())-anc_et"
            )
            let payload = String(decoding: try JSONEncoder().encode(fact), as: UTF8.self)
            let apply = ApplyTransferFacts(
                database: self.world.work,
                store: SubmissionStore(),
                provider: self.provider,
                repeats: AnchorRepeats(time: self.clock),
                clock: self.clock
            )
            _ = try await apply([self.job(reference, payload)])
        case .paid(let id, let account, let amount, let reference):
            let credit = WalletCredit(
                providerPaymentID: id,
                account: account,
                amount: amount,
                reference: reference
            )
            let payload = String(decoding: try JSONEncoder().encode(credit), as: UTF8.self)
            let credits = CreditWallets(database: self.world.work, store: SubmissionStore())
            _ = try await credits([self.job(id, payload)])
        }
    }

    /// Lets everything that is under way come to its end: then both books must say the same.
    func comesToRest() async throws {
        self.provider.lateOnesArrive()
        for round in 0..<40 {
            for reference in self.provider.pending { self.provider.ends(reference, .completed) }
            self.unheard += self.provider.messages()
            let heard = self.unheard
            self.unheard = []
            for message in heard { try await self.hears(message) }
            try await self.forgetsEnded()
            if self.open.isEmpty {
                try await self.closesProducts()
                if self.open.isEmpty { return try await self.booksBills() }
            }
            try await self.sends(self.open)
            try await self.waits(.seconds(round == 0 ? 1 : 130))
        }
        let rows = try await self.world.work.client.query(
            """
            SELECT t.type || ' ' || t.state || ' ' || t.amount || ' ' || coalesce(t.route_reason, '') || ': '
                || (SELECT string_agg(s.state || ' ' || coalesce(s.evidence, '-'), ', ' ORDER BY s.step)
                    FROM transfer_steps s WHERE s.transfer_id = t.id)
            FROM transfers t WHERE t.id = ANY (\(self.open))
            """
        )
        throw TestFailure("these do not come to an end: \(try rows.map { try $0.decode(String.self) })")
    }

    var bills: BillStore {
        BillStore(
            client: self.world.work.client,
            billing: ProviderBilling(payer: .customers, account: nil)
        )
    }

    /// What the provider takes for its service is read account by account.
    private func booksBills() async throws {
        let book = BookBills(
            database: self.world.work,
            store: self.bills,
            provider: self.provider,
            clock: self.clock
        )
        for person in self.people + self.gone { _ = try await book(self.job(person.account)) }
    }

    /// What does not agree with the provider, and what does not hold, as sentences.
    func contradictions() async throws -> [String] {
        var found = try await self.world.work.client.query("SELECT name || ': ' || detail FROM check_invariants()")
            .map { try $0.decode(String.self) }
        for person in self.people + self.gone {
            let theirs = self.provider.balance(person.account)
            let ours = try await self.account(of: person)
            if ours != theirs { found.append("\(person.name): \(ours) by what people see, \(theirs) there") }
        }
        for account in (self.people + self.gone).map(\.account) + [Self.pool] {
            found += try await self.differences(of: account)
        }
        return found
    }

    /// What of a person's money is at the provider, from what the person sees and pays: the wallet, what waits for them, the
    /// fees and prices that stay there, and what a drop gave back whose funding came back as well; less what others took
    /// back and they had spent, and what the provider has billed.
    private func account(of person: Person) async throws -> Int64 {
        let rows = try await self.world.work.client.query(
            """
            SELECT (w.posted
                + (SELECT coalesce(sum(t.fee + t.duty), 0) FROM transfers t
                   WHERE t.sender_id = u.id AND t.state = 'completed')
                + (SELECT coalesce(sum(t.amount), 0) FROM transfers t
                   WHERE t.sender_id = u.id AND t.type = 'subscription_charge' AND t.state = 'completed')
                + (SELECT coalesce(sum(t.amount), 0) FROM transfers t
                   WHERE t.destination = u.provider_account AND t.route_reason = 'suspense' AND t.state = 'completed')
                + (SELECT coalesce(sum(d.given_back), 0) FROM money_drops d
                   WHERE d.creator_id = u.id AND d.end_reason = 'funding_reversed')
                - w.owed)::bigint
            FROM users u JOIN balances w ON w.account_id = u.wallet_id WHERE u.id = \(person.id.uuid)
            """
        )
        guard let row = rows.first else { throw TestFailure("\(person.name) has no wallet") }
        return try row.decode(Int64.self) - self.provider.billed(person.account)
    }

    /// What a look at the provider's books finds.
    private func differences(of name: String) async throws -> [String] {
        let books = ReconciliationStore(client: self.world.work.client, poolAccount: Self.pool)
        guard let account = try await books.account(name) else { return ["\(name) is nobody's"] }
        let since = self.clock.now.addingTimeInterval(-86_400 * 30)
        let theirs = try await self.provider.read(name, since: since, billsSince: since)
        let ours = try await books.ourBooks(
            of: account,
            since: since,
            references: theirs.transfers.map(\.reference),
            payments: theirs.payments.map(\.id)
        )
        let reconciled = try await books.reconciled(Set(theirs.transfers.compactMap(\.source)).subtracting([name]))
        return BookComparison.differences(of: theirs, from: ours, to: ours, reconciled: reconciled).map {
            "\(name): \($0.kind.rawValue) \($0.key), ours \($0.ours ?? "-"), theirs \($0.theirs ?? "-")"
        }
    }
}
