import Foundation
import Messaging
import ObjectStorage
import Postgres
import Primitives

/// Payment requests: changed by database functions, read by whoever has the link.
struct PaymentRequestStore: Sendable {
    /// The requests of a user, by row level security.
    let client: PostgresClient
    /// Requests that name nobody are read by id, past row level security.
    let workers: PostgresClient

    /// Which side of requests.
    enum Side: Sendable {
        /// Those the user made.
        case outgoing
        /// Those that name the user.
        case incoming
    }

    // MARK: Changes

    /// A request that is to be made.
    struct New: Sendable {
        /// Random, because who knows it may see and pay it.
        let id: UUID
        let owner: UserID
        let draft: PaymentRequestDraft
        let sealedDescription: String?
        let link: String
        let expiresAt: Date
    }

    /// - Throws: `PaymentRequestRefusal`.
    func create(_ new: New, in transaction: EventTransaction) async throws {
        let rows = try await transaction.query(
            """
            SELECT create_payment_request(\(new.id), \(new.owner.uuid), \(new.draft.payer), \(new.draft.amount),
                \(new.sealedDescription), \(new.link), \(new.expiresAt), \(transaction.cause.correlationID),
                \(transaction.cause.traceparent))
            """
        )
        try Self.check(rows)
        if let reference = new.draft.reference {
            try await transaction.query("SELECT refer_payment_request(\(new.id), \(new.owner.uuid), \(reference))")
        }
        guard new.draft.isMultiple else { return }
        try await transaction.query("SELECT let_many_pay(\(new.id), \(new.owner.uuid))")
    }

    /// Cancels a request of one's own, or declines one that names the user.
    ///
    /// - Throws: `PaymentRequestRefusal`.
    func end(_ request: UUID, as user: UserID, from side: Side, in transaction: EventTransaction) async throws {
        let end = side == .outgoing ? "cancelled" : "declined"
        let rows = try await transaction.query(
            "SELECT end_payment_request(\(request), \(user.uuid), \(end), \(transaction.cause.correlationID))"
        )
        try Self.check(rows)
    }

    /// The image that a request of the user's shows.
    func image(of request: UUID, in transaction: EventTransaction) async throws -> ImageKey? {
        let rows = try await transaction.query("SELECT image_key FROM payment_requests WHERE id = \(request)")
        return try rows.first?.decode(String?.self).flatMap { ImageKey(reading: $0) }
    }

    private static func check(_ rows: [PostgresRow]) throws {
        guard let outcome = try rows.first?.decode(String.self) else { throw LedgerContradiction() }
        if outcome == "declined" || outcome == "cancelled" || outcome == "created" { return }
        throw PaymentRequestRefusal(rawValue: outcome) ?? LedgerContradiction() as any Error
    }

    // MARK: Reads

    private static let columns = SQL(
        unsafe: """
            id, position, owner_id, payer_id, amount, description, link, reference, image_key,
            CASE WHEN state = 'open' AND expires_at <= transfa_now() THEN 'expired' ELSE state END, transfer_id,
            expires_at, created_at, multiple, paid_count, paid_total
            """
    )

    func find(_ request: UUID) async throws -> PaymentRequest? {
        try await self.workers.query("SELECT \(Self.columns) FROM payment_requests WHERE id = \(request)").first
            .map(Self.decode)
    }

    /// The user's requests on one side, newest first; only those with a reference, if there is one.
    func page(
        of user: UserID,
        _ side: Side,
        reference: String? = nil,
        before position: Int64,
        limit: Int
    ) async throws -> [PaymentRequest] {
        try await self.client.query(
            """
            SELECT \(Self.columns)
            FROM page_of_requests(\(user.uuid), \(side == .incoming), \(reference), \(position), \(Int64(limit)))
            """,
            as: user.uuid
        ).map(Self.decode)
    }

    private static func decode(_ row: PostgresRow) throws -> PaymentRequest {
        let (
            id, position, owner, payer, amount, description, link, reference, image, state, transaction, expires,
            created
        ) =
            try row.decode(
                UUID.self,
                Int64.self,
                UUID.self,
                UUID?.self,
                Int64?.self,
                String?.self,
                String.self,
                String?.self,
                String?.self,
                String.self,
                UUID?.self,
                Date.self,
                Date.self
            )
        return PaymentRequest(
            id: id,
            position: position,
            owner: owner,
            payer: payer,
            amount: amount,
            description: description,
            link: link,
            reference: reference,
            image: image.flatMap { ImageKey(reading: $0) },
            state: state,
            isMultiple: try row["multiple"].decode(Bool.self),
            paidCount: try row["paid_count"].decode(Int64.self),
            paidTotal: try row["paid_total"].decode(Int64.self),
            transaction: transaction,
            expiresAt: expires,
            createdAt: created
        )
    }
}
