import Contracts
import Foundation
import Messaging
import Postgres
import Primitives

/// The table `documents`.
struct DocumentStore: Sendable {
    /// What was handed in, on its way to the provider.
    struct Sending: Sendable {
        let document: IdentityDocument
        let kind: HandedContent.Kind
        let content: Sealed
    }

    // MARK: Reads

    /// A user's documents, by type.
    func all(of user: UserID, on database: EventDatabase) async throws -> [IdentityDocument] {
        let sql: SQL = "\(Self.columns) WHERE user_id = \(user.uuid) ORDER BY type, id LIMIT \(Self.most)"
        return try await database.client.query(sql, as: user.uuid).map(Self.document)
    }

    /// One of a user's.
    func find(_ id: UUID, of user: UserID, on database: EventDatabase) async throws -> IdentityDocument? {
        let sql: SQL = "\(Self.columns) WHERE id = \(id) AND user_id = \(user.uuid)"
        return try await database.client.query(sql, as: user.uuid).first.map(Self.document)
    }

    /// One that is on its way, with its content; for jobs.
    func sending(_ id: UUID, on database: EventDatabase) async throws -> Sending? {
        let sql: SQL = "\(Self.columnsWithContent) WHERE id = \(id) AND state = 'sending'"
        guard let found = try await database.client.query(sql).first,
            let content = try found["content"].decode(String?.self),
            let kind = HandedContent.Kind(rawValue: try found["content_type"].decode(String?.self) ?? "")
        else { return nil }
        return Sending(document: try Self.document(found), kind: kind, content: Sealed(content))
    }

    /// One of a user's, locked until the transaction ends.
    func lock(_ id: UUID, of user: UserID, in transaction: EventTransaction) async throws -> IdentityDocument? {
        let sql: SQL = "\(Self.columns) WHERE id = \(id) AND user_id = \(user.uuid) FOR UPDATE"
        return try await transaction.query(sql).first.map(Self.document)
    }

    /// A user's documents, locked until the transaction ends.
    func lockAll(of user: UserID, in transaction: EventTransaction) async throws -> [IdentityDocument] {
        let sql: SQL = "\(Self.columns) WHERE user_id = \(user.uuid) ORDER BY id FOR UPDATE"
        return try await transaction.query(sql).map(Self.document)
    }

    // MARK: Writes

    /// Keeps what was handed in until the provider has it.
    func hand(
        in content: Sealed,
        _ kind: HandedContent.Kind,
        as document: UUID,
        in transaction: EventTransaction
    ) async throws {
        try await transaction.query(
            """
            UPDATE documents SET state = 'sending', reason = NULL, content_type = \(kind.rawValue),
                content = \(content.text), handed_at = \(transaction.now), updated_at = \(transaction.now)
            WHERE id = \(document)
            """
        )
    }

    /// Ends the way of what was handed in; its content is forgotten.
    func end(_ document: IdentityDocument, in transaction: EventTransaction) async throws {
        try await transaction.query(
            """
            UPDATE documents SET state = \(document.state.rawValue), reason = \(document.reason?.rawValue),
                content_type = NULL, content = NULL, handed_at = \(transaction.now), updated_at = \(transaction.now)
            WHERE id = \(document.id) AND state = 'sending'
            """
        )
    }

    /// Writes what the provider lists: a new document, or how a known one stands; not one that is on its way.
    func save(_ document: IdentityDocument, in transaction: EventTransaction) async throws {
        try await transaction.query(
            """
            INSERT INTO documents (id, user_id, anchor_document_id, type, format, state, reason, updated_at)
            VALUES (\(document.id), \(document.user.uuid), \(document.providerID), \(document.type),
                \(document.format.rawValue), \(document.state.rawValue), \(document.reason?.rawValue),
                \(transaction.now))
            ON CONFLICT (user_id, anchor_document_id) DO UPDATE SET type = excluded.type, format = excluded.format,
                state = excluded.state, reason = excluded.reason, updated_at = excluded.updated_at, content = NULL,
                content_type = NULL
            """
        )
    }

    /// Forgets an erased user's documents.
    func delete(of user: UserID, in transaction: EventTransaction) async throws {
        try await transaction.stage("DELETE FROM documents WHERE user_id = \(user.uuid)")
    }

    private static let most = Int64(IdentityDocument.limit)

    private static let columns: SQL =
        "SELECT id, user_id, anchor_document_id, type, format, state, reason, handed_at FROM documents"

    /// A content is large.
    private static let columnsWithContent: SQL = """
        SELECT id, user_id, anchor_document_id, type, format, state, reason, handed_at, content_type, content
        FROM documents
        """

    private static func document(_ row: PostgresRow) throws -> IdentityDocument {
        let (id, user, providerID, type, format, state, reason, handed) = try row.decode(
            UUID.self,
            UUID.self,
            String.self,
            String.self,
            String.self,
            String.self,
            String?.self,
            Date?.self
        )
        guard let format = IdentityDocument.Format(rawValue: format),
            let state = IdentityDocument.State(rawValue: state)
        else { throw StoredWordUnknown(table: "documents") }
        return IdentityDocument(
            id: id,
            user: UserID(user),
            providerID: providerID,
            type: type,
            format: format,
            state: state,
            reason: reason.flatMap { IdentityDocument.Reason(rawValue: $0) },
            handedAt: handed
        )
    }
}
