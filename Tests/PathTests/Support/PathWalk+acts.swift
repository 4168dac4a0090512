import Contracts
import Foundation
import Messaging
import Postgres
import Primitives
import ServiceTestSupport
import TestSupport

@testable import TransactionService

extension PathWalk {
    /// The payer pays the payee, and what the payee asked for if there is a request.
    @discardableResult
    func pays(_ amount: Int64 = 1000, approvedBy device: UUID? = nil) async throws -> UUID {
        let draft = try PaymentDraft(recipient: self.payeeName, amount: amount, description: nil)
        let payment = try await self.ledger.orders(
            .payment(draft, request: self.request),
            of: self.payer,
            approvedBy: device
        )
        self.transfer = payment
        return payment
    }

    func sends(_ transfer: UUID, then outcome: TransferVerdict.Outcome) async throws {
        try await self.ledger.sends(transfer)
        try await self.ledger.ends(transfer, outcome)
    }

    /// The payee pays somebody else.
    func payeeSpends(_ amount: Int64) async throws {
        let other = UserID(clerkSubject: "user_other_of_\(self.payeeName)")
        let name = "other\(self.payeeName.drop { $0.isLetter })"
        try await self.ledger.joins(other, name)
        let draft = try PaymentDraft(recipient: name, amount: amount, description: nil)
        try await self.ledger.completes(
            try await self.ledger.orders(.payment(draft, request: nil), of: self.payee)
        )
    }

    @discardableResult
    func withdraws(to bank: UUID) async throws -> UUID {
        let withdrawal = try await self.ledger.orders(
            .withdrawal(to: bank, amount: Money(kobo: 1000)),
            of: self.payer
        )
        self.transfer = withdrawal
        return withdrawal
    }

    /// A payment lies in suspense: the payee was frozen on the way, and is not any more.
    func waits() async throws -> UUID {
        let payment = try await self.pays()
        try await self.ledger.sends(payment)
        try await self.ledger.sets(self.payee, "credits_blocked = true")
        try await self.ledger.ends(payment, .completed)
        try await self.ledger.sets(self.payee, "credits_blocked = false")
        return payment
    }

    /// Money from outside lies in suspense.
    func waitsFromOutside() async throws -> UUID {
        try await self.ledger.sets(self.payee, "credits_blocked = true")
        let money = try await self.ledger.funds(self.payeeAccount, 1000)
        try await self.ledger.sets(self.payee, "credits_blocked = false")
        self.transfer = money
        return money
    }

    /// A phone that is the payer's since just now.
    func newPhone() async throws -> UUID {
        let phone = self.ledger.ids.next()
        let registered = DeviceRegistered(
            userID: self.payer.uuid,
            deviceID: phone,
            publicKey: "AAAA",
            activatedAt: Timestamp.text(self.ledger.clock.now)
        )
        try await self.ledger.hear(registered, about: self.payer.uuid, sequence: 4)
        return phone
    }

    /// What lay in the payer's wallet when it was closed.
    func emptied() async throws -> UUID {
        let rows = try await self.ledger.work.client.query(
            """
            SELECT id FROM transfers WHERE recipient_id = \(self.payer.uuid) AND route_reason = 'suspense'
            ORDER BY id DESC LIMIT 1
            """
        )
        guard let money = try rows.first?.decode(UUID.self) else { throw TestFailure("nothing waits") }
        return money
    }

    // MARK: Drops

    /// The payer makes a drop of three slots of 400.
    @discardableResult
    func makesDrop() async throws -> UUID {
        let draft = try MoneyDropDraft(
            amountPerClaim: 400,
            slots: 3,
            expiresAt: Timestamp.text(self.ledger.clock.now.addingTimeInterval(3600)),
            title: nil,
            password: nil
        )
        let drop = NewMoneyDrop(
            id: self.ledger.ids.next(),
            draft: draft,
            passwordHash: nil,
            poolAccount: PathLedger.pool,
            link: "https://x/d"
        )
        self.drop = drop.id
        let funding = try await self.ledger.orders(.moneyDrop(drop), of: self.payer)
        self.transfer = funding
        return funding
    }

    private var dropStore: MoneyDropStore {
        MoneyDropStore(client: self.ledger.requests.client, workers: self.ledger.work.client)
    }

    private func theDrop() throws -> UUID {
        guard let drop = self.drop else { throw TestFailure("there is no drop") }
        return drop
    }

    @discardableResult
    func claims() async throws -> UUID {
        let drop = try self.theDrop()
        let claim = try await self.ledger.asUser(self.payee) { transaction in
            try await self.dropStore.claim(drop, by: self.payee, passwordHash: nil, in: transaction)
        }
        self.transfer = claim.transaction
        return claim.transaction
    }

    /// The creator ends the drop; the refund.
    func endsDrop() async throws -> UUID {
        let drop = try self.theDrop()
        try await self.ledger.asUser(self.payer) { transaction in
            try await self.dropStore.end(drop, by: self.payer, in: transaction)
        }
        return try await self.refund()
    }

    /// Its time is over; the refund.
    func runsOut() async throws -> UUID {
        self.ledger.clock.advance(by: .seconds(3601))
        try await self.ledger.database.psql("UPDATE clock_offset SET moved = moved + interval '3601 seconds'")
        try await self.ledger.work.transaction(cause: Cause()) { transaction in
            try await LedgerUpkeep().sweepMoneyDrops(in: transaction)
        }
        return try await self.refund()
    }

    func refund() async throws -> UUID {
        let drop = try self.theDrop()
        let rows = try await self.ledger.work.client.query(
            """
            SELECT id FROM transfers WHERE parent_id = \(drop) AND type = 'drop_refund' AND state = 'accepted'
            ORDER BY id DESC LIMIT 1
            """
        )
        guard let refund = try rows.first?.decode(UUID.self) else { throw TestFailure("nothing comes back") }
        self.transfer = refund
        return refund
    }

    // MARK: Requests and plans

    /// The payee asks for 1000.
    func asks(many: Bool = false) async throws {
        let draft = try PaymentRequestDraft(
            amount: 1000,
            payer: many ? nil : self.payerName,
            description: nil,
            expiresAt: nil,
            isMultiple: many
        )
        let new = PaymentRequestStore.New(
            id: self.ledger.ids.next(),
            owner: self.payee,
            draft: draft,
            sealedDescription: nil,
            link: "https://x/r",
            expiresAt: self.ledger.clock.now.addingTimeInterval(86_400)
        )
        let store = PaymentRequestStore(client: self.ledger.requests.client, workers: self.ledger.work.client)
        try await self.ledger.asUser(self.payee) { try await store.create(new, in: $0) }
        self.request = new.id
    }

    func isCharged(_ amount: Int64) async throws {
        try await self.ledger.hearsAll()
        let order = ChargeOrder(
            user: self.payer.uuid,
            reference: "sub-\(self.payer)-20260101",
            attempt: 1,
            amount: amount
        )
        _ = try await self.ledger.work.transaction(cause: Cause()) { transaction in
            try await ChargeStore().charge([order], in: transaction)
        }
        let rows = try await self.ledger.work.client.query(
            "SELECT id FROM transfers WHERE sender_id = \(self.payer.uuid) AND type = 'subscription_charge'"
        )
        self.transfer = try rows.first?.decode(UUID.self)
    }
}
