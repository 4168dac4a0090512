import Foundation
import Postgres
import Primitives

/// What only a receipt shows of a transfer.
struct ReceiptStore: Sendable {
    let client: PostgresClient

    /// Nil when the transfer is not one of the user's.
    func details(of transfer: UUID, for user: UserID) async throws -> (reference: String, session: String?)? {
        try await self.client.query(
            """
            SELECT t.reference, s.session_id FROM transfers t
            LEFT JOIN provider_sessions s ON s.transfer_id = t.id WHERE t.id = \(transfer)
            """,
            as: user.uuid
        ).first.map { row in
            let (reference, session) = try row.decode(String.self, String?.self)
            return (reference, session)
        }
    }
}
