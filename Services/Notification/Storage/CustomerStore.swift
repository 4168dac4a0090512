import Contracts
import Foundation
import Messaging
import Postgres
import Primitives

/// The table `customers`.
struct CustomerStore: Sendable {
    /// Makes webhooks about a customer and the news of that customer wait for each other, until the transaction ends.
    ///
    /// Without it a webhook could look before the customer is committed and its evidence be written after it was looked
    /// for, and wait for ever.
    func lockID(_ customerID: String, in transaction: EventTransaction) async throws {
        try await transaction.query("SELECT pg_advisory_xact_lock(hashtextextended(\(customerID), 7101))")
    }

    /// The customer with the provider's id.
    func find(anchorCustomerID id: String, in transaction: EventTransaction) async throws -> KnownCustomer? {
        try await transaction.query("\(Self.columns) WHERE anchor_customer_id = \(id)").first.map(Self.customer)
    }

    /// A user as a customer.
    func find(_ user: UserID, on database: EventDatabase) async throws -> KnownCustomer? {
        try await database.client.query("\(Self.columns) WHERE user_id = \(user.uuid)").first.map(Self.customer)
    }

    /// Learns of a customer; once more changes nothing.
    ///
    /// Whoever came back has taken it over from a former self: the verdict is asked for anew. Of the two the former one may
    /// be told of later; the customer is no longer theirs.
    func insert(_ data: CustomerCreated, in transaction: EventTransaction) async throws {
        if let former = data.succeeds {
            try await transaction.stage(
                "DELETE FROM customers WHERE user_id = \(former) AND anchor_customer_id = \(data.anchorCustomerID)"
            )
        }
        try await transaction.stage(
            """
            INSERT INTO customers (user_id, anchor_customer_id, created_at)
            VALUES (\(data.userID), \(data.anchorCustomerID), \(transaction.now))
            ON CONFLICT DO NOTHING
            """
        )
    }

    /// Notes that the provider has verified the customer.
    ///
    /// - Returns: False when that was known: then nobody is to hear it again.
    func setVerified(_ user: UserID, in transaction: EventTransaction) async throws -> Bool {
        let rows = try await transaction.query(
            """
            UPDATE customers SET status = 'approved', verified_at = \(transaction.now)
            WHERE user_id = \(user.uuid) AND verified_at IS NULL
            RETURNING user_id
            """
        )
        return !rows.isEmpty
    }

    /// Notes another verdict.
    ///
    /// - Returns: False when the customer is verified, which is for ever.
    func setStatus(_ verdict: IdentityVerdict, of user: UserID, in transaction: EventTransaction) async throws -> Bool {
        let rows = try await transaction.query(
            """
            UPDATE customers SET status = \(verdict.rawValue) WHERE user_id = \(user.uuid) AND verified_at IS NULL
            RETURNING user_id
            """
        )
        return !rows.isEmpty
    }

    /// Notes that the provider will judge again: the same verdict once more is news then.
    func expectVerdict(_ user: UserID, in transaction: EventTransaction) async throws {
        try await transaction.stage(
            "UPDATE customers SET status = 'pending' WHERE user_id = \(user.uuid) AND verified_at IS NULL"
        )
    }

    private static let columns: SQL =
        "SELECT user_id, anchor_customer_id, status, verified_at IS NOT NULL FROM customers"

    private static func customer(_ row: PostgresRow) throws -> KnownCustomer {
        let (user, id, status, isVerified) = try row.decode(UUID.self, String.self, String.self, Bool.self)
        return KnownCustomer(user: UserID(user), anchorCustomerID: id, status: status, isVerified: isVerified)
    }
}
