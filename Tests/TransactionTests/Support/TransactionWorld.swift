import Contracts
import Foundation
import Messaging
import Postgres
import Primitives
import ServiceTestSupport
import TestSupport

@testable import TransactionService

/// Transaction on a database of its own, without HTTP, broker and provider.
struct TransactionWorld: ServiceWorld {
    let service: ServiceDatabase

    let bayo = UserID(clerkSubject: "user_bayo")

    var handlers: EventHandlers { TransactionHandlers.make(ReadModelStore()) }
    var history: HistoryStore { HistoryStore(client: self.requests.client, workers: self.work.client) }

    /// Signs a user up and gives them a wallet at the account `<username>-account`.
    func joins(_ user: UserID, _ username: String) async throws {
        let type = Open(AccountType.personal)
        try await self.hear(
            UserCreated(userID: user.uuid, username: username, accountType: type),
            about: user.uuid
        )
        try await self.hear(CustomerVerified(userID: user.uuid, anchorCustomerID: "\(username)-cst"), about: user.uuid)
        let opened = AccountOpened(
            userID: user.uuid,
            accountID: self.ids.next(),
            anchorAccountID: "\(username)-account",
            bankName: "Bank",
            accountNumber: Sealed("s1.c2VhbGVk"),
            accountName: Sealed("s1.c2VhbGVk")
        )
        try await self.hear(opened, about: user.uuid)
    }

    /// Money comes from outside.
    func funds(_ account: String, _ amount: Int64, _ payment: String) async throws {
        let credit = WalletCredit(providerPaymentID: payment, account: account, amount: amount)
        try await self.work.transaction(cause: Cause()) { transaction in
            _ = try await SubmissionStore().credit([credit], in: transaction)
        }
    }

    /// A payment of Ada's is accepted.
    @discardableResult
    func pays(_ username: String, _ amount: Int64) async throws -> UUID {
        let answer = try await self.orders(username, amount)
        guard case .accepted(let receipt) = answer.outcome, !answer.isRepeated else {
            throw TestFailure("not accepted: \(answer.outcome)")
        }
        return receipt.transaction
    }

    /// How a payment of Ada's is answered.
    @discardableResult
    func orders(
        _ username: String,
        _ amount: Int64,
        key: String? = nil,
        nonce: UUID? = nil
    ) async throws -> OrderAnswer {
        let draft = try PaymentDraft(recipient: username, amount: amount, description: nil)
        return try await self.places(.payment(draft, request: nil), of: self.ada, key: key, nonce: nonce)
    }

    /// How an order is answered; without a nonce its approval is a new one.
    func places(
        _ order: Order,
        of sender: UserID,
        key: String? = nil,
        nonce: UUID? = nil
    ) async throws -> OrderAnswer {
        let order = PendingOrder(
            transaction: self.ids.next(),
            sender: sender,
            order: order,
            sealedText: nil,
            route: "POST /transactions/\(order.type.rawValue)",
            key: key ?? self.ids.next().lowercased,
            requestHash: Array(repeating: 1, count: 32),
            nonce: nonce ?? self.ids.next(),
            device: nil,
            createdEvent: self.ids.next(),
            reroutedEvent: self.ids.next(),
            slotEvent: self.ids.next(),
            correlation: nil,
            traceparent: nil
        )
        let store = OrderStore(client: self.requests.client)
        return try await store.answer(to: order, try await store.place([order])[0])
    }

    /// Runs one of the service's schedules.
    func runs(_ body: @Sendable (EventTransaction) async throws -> Void) async throws {
        try await self.work.transaction(cause: Cause(), body)
    }

    /// The sources of what is known about people are heard again.
    func beats() async throws {
        try await self.runs { transaction in
            try await transaction.stage(
                "SELECT beat(s, transfa_now()) FROM unnest(ARRAY['auth', 'customer', 'subscription']) s"
            )
        }
    }

    /// Moves the clocks of database and service.
    func passes(_ time: Duration) async throws {
        self.clock.advance(by: time)
        try await self.database.psql("UPDATE clock_offset SET moved = moved + interval '\(time / .seconds(1)) seconds'")
    }

    func number(_ sql: String) async throws -> Int? {
        try await self.database.psql(sql).first.flatMap { Int($0) }
    }

    /// What the audit says of acts whose name begins so: actor, act, subject, reason, before, after and request.
    func acts(_ prefix: String) async throws -> [String] {
        try await self.database.psql(
            """
            SELECT actor, act, subject, reason, before, after, request_id FROM audit_log
            WHERE starts_with(act, '\(prefix)') ORDER BY number
            """
        )
    }

    /// What does not hold in the books.
    func brokenInvariants() async throws -> [String] {
        try await self.database.psql("SELECT name, detail FROM check_invariants()")
    }
}

/// Runs `body` with transaction on a fresh database, on which Ada and Bayo have wallets.
func withTransaction(_ body: (TransactionWorld) async throws -> Void) async throws {
    try await withServiceDatabase(
        .transaction,
        schema: try TransactionSchema.sets(),
        handlers: TransactionHandlers.make(ReadModelStore())
    ) { service in
        let world = TransactionWorld(service: service)
        try await world.joins(world.ada, "ada")
        try await world.joins(world.bayo, "bayo")
        try await body(world)
    }
}
