import Foundation
import Messaging
import ObjectStorage
import Postgres
import Primitives

/// The table `images`, and which of them users show.
struct ImageStore: Sendable {
    /// The image with a name, whoever asks.
    func find(_ key: ImageKey, on workers: EventDatabase) async throws -> ImageRecord? {
        try await workers.client.query("\(Self.columns) WHERE key = \(key.text)").first.map(Self.record)
    }

    /// The images of a user, those that are not shown too.
    func all(of user: UserID, in transaction: EventTransaction) async throws -> [ImageRecord] {
        try await transaction.query("\(Self.columns) WHERE user_id = \(user.uuid) ORDER BY key").map(Self.record)
    }

    /// Whether bytes of an image may still be on their way: it was noted a short time ago and never shown.
    func mayBeUploading(_ key: ImageKey, in transaction: EventTransaction) async throws -> Bool {
        let rows = try await transaction.query(
            """
            SELECT 1 FROM images WHERE key = \(key.text) AND NOT is_uploaded
                AND created_at > \(transaction.now.addingTimeInterval(-Self.uploadTime))
            """
        )
        return !rows.isEmpty
    }

    /// Long after any request has ended.
    private static let uploadTime: TimeInterval = 900

    /// Notes an image whose bytes are about to be kept.
    func insert(_ record: ImageRecord, in transaction: EventTransaction) async throws {
        try await transaction.query(
            """
            INSERT INTO images (key, user_id, content_type, created_at)
            VALUES (\(record.key.text), \(record.owner.uuid), \(record.contentType), \(transaction.now))
            """
        )
    }

    /// Forgets an image whose bytes are gone.
    func delete(_ key: ImageKey, in transaction: EventTransaction) async throws {
        try await transaction.query("DELETE FROM images WHERE key = \(key.text)")
    }

    /// Shows another image of the user's, or none.
    ///
    /// Lock the user first.
    func show(_ key: ImageKey?, of user: UserID, in transaction: EventTransaction) async throws {
        if let key {
            try await transaction.query("UPDATE images SET is_uploaded = true WHERE key = \(key.text)")
        }
        try await transaction.query(
            "UPDATE users SET image_key = \(key?.text), updated_at = \(transaction.now) WHERE id = \(user.uuid)"
        )
    }

    private static let columns: SQL = "SELECT key, user_id, content_type FROM images"

    private static func record(_ row: PostgresRow) throws -> ImageRecord {
        let (key, user, type) = try row.decode(String.self, UUID.self, String.self)
        guard let known = ImageKey(reading: key) else { throw StoredWordUnknown(table: "images") }
        return ImageRecord(key: known, owner: UserID(user), contentType: type)
    }
}
