import Foundation
import Messaging
import ObjectStorage
import Postgres
import Primitives

/// Images of payment requests: changed by database functions, seen by whoever knows their names.
struct RequestImageStore: Sendable {
    /// Past row level security.
    let workers: PostgresClient

    /// The image with a name, whoever asks.
    func find(_ key: ImageKey) async throws -> ImageRecord? {
        let rows = try await self.workers.query(
            "SELECT user_id, content_type FROM request_images WHERE key = \(key.text)"
        )
        return try rows.first.map { row in
            let (owner, type) = try row.decode(UUID.self, String.self)
            return ImageRecord(key: key, owner: UserID(owner), contentType: type)
        }
    }

    /// Notes an image whose bytes are about to be kept.
    ///
    /// - Throws: `PaymentRequestRefusal`.
    func announce(_ record: ImageRecord, of request: UUID, in transaction: EventTransaction) async throws {
        let rows = try await transaction.query(
            """
            SELECT announce_request_image(\(request), \(record.owner.uuid), \(record.key.text), \(record.contentType))
            """
        )
        try Self.check(try rows.first?.decode(String.self), is: "announced")
    }

    /// Shows an image whose bytes are kept, or none.
    ///
    /// - Returns: The one that was shown before.
    /// - Throws: `PaymentRequestRefusal`.
    func show(
        _ key: ImageKey?,
        of request: UUID,
        owner: UserID,
        in transaction: EventTransaction
    ) async throws -> ImageKey? {
        let rows = try await transaction.query(
            "SELECT outcome, replaced FROM show_request_image(\(request), \(owner.uuid), \(key?.text))"
        )
        guard let (outcome, replaced) = try rows.first?.decode(String.self, String?.self) else {
            throw LedgerContradiction()
        }
        try Self.check(outcome, is: "shown")
        return replaced.flatMap { ImageKey(reading: $0) }
    }

    private static func check(_ outcome: String?, is wanted: String) throws {
        guard let outcome else { throw LedgerContradiction() }
        guard outcome != wanted else { return }
        throw PaymentRequestRefusal(rawValue: outcome) ?? LedgerContradiction() as any Error
    }

    // MARK: What becomes of them

    /// What is to be done with an image.
    enum Fate: String, Sendable {
        /// A request shows it.
        case keep
        /// Its bytes may still be on their way.
        case wait
        /// Nobody shows it, and nobody will.
        case discard
    }

    func fate(of key: ImageKey, in transaction: EventTransaction) async throws -> Fate {
        let rows = try await transaction.query("SELECT request_image_fate(\(key.text))")
        guard let fate = Fate(rawValue: try rows.first?.decode(String.self) ?? "") else { throw LedgerContradiction() }
        return fate
    }

    /// Forgets an image whose bytes are gone.
    func delete(_ key: ImageKey, in transaction: EventTransaction) async throws {
        try await transaction.query("DELETE FROM request_images WHERE key = \(key.text)")
    }

    /// The images of a person's cancelled requests, which nobody is shown any more.
    func cancelled(of user: UUID, in transaction: EventTransaction) async throws -> [ImageKey] {
        let rows = try await transaction.query(
            """
            SELECT image_key FROM payment_requests
            WHERE owner_id = \(user) AND image_key IS NOT NULL AND state = 'cancelled' ORDER BY id
            """
        )
        return try rows.compactMap { ImageKey(reading: try $0.decode(String.self)) }
    }

    /// Takes an erased person's images from their requests; gives all of them.
    static func hide(of user: UUID, in transaction: EventTransaction) async throws -> [ImageKey] {
        let rows = try await transaction.query("SELECT hide_request_images(\(user))")
        return try rows.compactMap { ImageKey(reading: try $0.decode(String.self)) }
    }
}
