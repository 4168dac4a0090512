import Messaging
import Postgres

/// The table `bank_list`.
struct BankListStore: Sendable {
    /// The list; nil before it was asked for the first time.
    func find(on database: EventDatabase) async throws -> BankListing? {
        try await database.client.query("SELECT body, etag FROM bank_list").first.map { row in
            let (body, etag) = try row.decode(String.self, String.self)
            return BankListing(body: body, etag: etag)
        }
    }

    /// Replaces it.
    func save(_ list: BankListing, in transaction: EventTransaction) async throws {
        try await transaction.query(
            """
            INSERT INTO bank_list (body, etag, refreshed_at) VALUES (\(list.body), \(list.etag), \(transaction.now))
            ON CONFLICT (single) DO UPDATE SET body = excluded.body, etag = excluded.etag,
                refreshed_at = excluded.refreshed_at
            """
        )
    }
}
