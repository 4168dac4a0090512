import Foundation
import Postgres
import Primitives

/// An order that waits to be placed, with everything the database needs to decide.
struct PendingOrder: Sendable {
    let transaction: UUID
    let sender: UserID
    let order: Order
    /// What the person wrote, sealed with their key.
    let sealedText: String?
    let route: String
    let key: String
    let requestHash: [UInt8]
    let nonce: UUID
    /// Nil for an approval by PIN.
    let device: UUID?
    /// Ids for the events it may cause.
    let createdEvent: UUID
    let reroutedEvent: UUID
    let slotEvent: UUID
    let correlation: UUID?
    let traceparent: String?
    /// What the quote said that the order names.
    var quote: QuoteTerms?
}

/// Places batches of orders: one call of one database function.
struct OrderStore: Sendable {
    let client: PostgresClient

    /// What became of an order in its batch.
    enum Placement: Sendable {
        case answered(OrderAnswer)
        /// The same order was accepted before; its receipt is still to be read.
        case acceptedBefore
    }

    /// Each order gets its own answer, in order.
    ///
    /// Repeating a batch after a lost connection is safe: the idempotency keys answer what was done. So nothing here may
    /// fail after the commit.
    func place(_ orders: [PendingOrder]) async throws -> [Placement] {
        let statement = try Self.statement(orders)
        let rows = try await self.client.withConnection { connection in try await connection.commit(statement) }
        precondition(rows.count == orders.count, "place_orders must answer every order of its batch")
        return try zip(rows, orders).map { row, order in
            let code: String = try row.decode(column: "code")
            let isRepeated: Bool = try row.decode(column: "is_replay")
            if code != Self.accepted {
                return .answered(OrderAnswer(outcome: .refused(code), isRepeated: isRepeated))
            }
            guard !isRepeated else { return .acceptedBefore }
            return .answered(OrderAnswer(outcome: .accepted(try Self.receipt(row, of: order)), isRepeated: false))
        }
    }

    /// The answer to an order that was placed.
    func answer(to order: PendingOrder, _ placement: Placement) async throws -> OrderAnswer {
        switch placement {
        case .answered(let answer): return answer
        case .acceptedBefore:
            let stored = try await self.stored(order.sender, route: order.route, key: order.key)
            guard let stored else { throw LedgerContradiction() }
            return stored.answer
        }
    }

    private static func receipt(_ row: PostgresRow, of order: PendingOrder) throws -> OrderReceipt {
        OrderReceipt(
            transaction: order.transaction,
            route: try row.decode(column: "route"),
            amount: order.order.amount.kobo,
            fee: try row.decode(column: "fee"),
            duty: try row.decode(column: "duty"),
            target: OrderReceipt.Target(order.order),
            createdAt: try row.decode(column: "placed_at"),
            version: OrderReceipt.newestVersion
        )
    }

    private static let accepted = "accepted"
    /// The kind of a refusal that may be otherwise later: `refusal_kind()`.
    private static let momentary = "momentary"

    private static func statement(_ orders: [PendingOrder]) throws -> SQL {
        let details = try orders.map { try $0.order.details(quote: $0.quote) }
        return """
            SELECT code, is_replay, route, fee, duty, placed_at FROM place_orders(
                \(orders.map(\.transaction))::uuid[], \(orders.map(\.sender.uuid))::uuid[],
                \(orders.map(\.order.recipient))::text[], \(orders.map(\.order.amount.kobo))::bigint[],
                \(orders.map(\.sealedText))::text[], \(orders.map(\.route))::text[], \(orders.map(\.key))::text[],
                \(orders.map(\.requestHash))::bytea[], \(orders.map(\.nonce))::uuid[],
                \(orders.map(\.device))::uuid[], \(orders.map(\.createdEvent))::uuid[],
                \(orders.map(\.reroutedEvent))::uuid[], \(orders.map(\.slotEvent))::uuid[],
                \(orders.map(\.correlation))::uuid[], \(orders.map(\.traceparent))::text[],
                \(orders.map(\.order.type.rawValue))::text[], \(orders.map(\.order.target))::uuid[],
                \(details)::text[], p_answer_version => \(OrderReceipt.newestVersion)) ORDER BY ord
            """
    }

    /// What stands under a key.
    struct Stored: Sendable {
        /// The hash of its request.
        let hash: [UInt8]
        let answer: OrderAnswer
        /// The approval that was refused, when the same request is decided anew under another one; else nil.
        let refusedApproval: UUID?

        /// Whether a request with a good approval gets this answer.
        func stands(under nonce: UUID) -> Bool { self.refusedApproval == nil || self.refusedApproval == nonce }
    }

    /// What stands under a key: an acceptance however old, a refusal for thirty days; nil when nothing does.
    func stored(_ user: UserID, route: String, key: String) async throws -> Stored? {
        let rows = try await self.client.query(
            """
            SELECT request_hash, code, type, transfer_id, route, amount, fee, duty, placed_at, recipient_username,
                beneficiary_id, money_drop_id, amount_per_claim, slots, password_required, expires_at, link,
                answer_version, kind, nonce
            FROM stored_order(\(user.uuid), \(route), \(key))
            """
        )
        return try rows.first.map { row in
            let code: String = try row.decode(column: "code")
            let outcome: OrderAnswer.Outcome = code == Self.accepted ? .accepted(try Self.receipt(row)) : .refused(code)
            let kind: String? = try row.decode(column: "kind")
            return Stored(
                hash: try row.decode(column: "request_hash"),
                answer: OrderAnswer(outcome: outcome, isRepeated: true),
                refusedApproval: try kind == Self.momentary ? row.decode(UUID.self, column: "nonce") : nil
            )
        }
    }

    private static func receipt(_ row: PostgresRow) throws -> OrderReceipt {
        OrderReceipt(
            transaction: try row.decode(column: "transfer_id"),
            route: try row.decode(column: "route"),
            amount: try row.decode(column: "amount"),
            fee: try row.decode(column: "fee"),
            duty: try row.decode(column: "duty"),
            target: try Self.target(row),
            createdAt: try row.decode(column: "placed_at"),
            version: try row.decode(column: "answer_version")
        )
    }

    private static func target(_ row: PostgresRow) throws -> OrderReceipt.Target {
        switch Order.Kind(rawValue: try row.decode(column: "type")) {
        case .payment: .recipient(try row.decode(column: "recipient_username"))
        case .withdrawal: .beneficiary(try row.decode(column: "beneficiary_id"))
        case .moneyDrop:
            .moneyDrop(
                OrderReceipt.Drop(
                    id: try row.decode(column: "money_drop_id"),
                    amountPerClaim: try row.decode(column: "amount_per_claim"),
                    slots: Int(try row.decode(Int32.self, column: "slots")),
                    passwordRequired: try row.decode(column: "password_required"),
                    expiresAt: try row.decode(column: "expires_at"),
                    link: try row.decode(column: "link")
                )
            )
        case nil: throw LedgerContradiction()
        }
    }
}
