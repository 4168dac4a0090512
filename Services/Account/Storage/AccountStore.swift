import Contracts
import Foundation
import Messaging
import Postgres
import Primitives

/// The table `accounts`.
struct AccountStore: Sendable {
    // MARK: Reading

    /// A user's account; nil when no event has mentioned the user.
    ///
    /// `reader` is the user whose request asks; nil on the worker's connections, which see every row.
    func find(_ user: UserID, as reader: UserID?, on database: EventDatabase) async throws -> DepositWallet? {
        let sql: SQL = "\(Self.columns) WHERE user_id = \(user.uuid)"
        return try await database.client.query(sql, as: reader?.uuid).first.map(Self.wallet)
    }

    /// The account with the provider's id; nil when it is none of ours.
    func find(anchorAccountID id: String, on database: EventDatabase) async throws -> DepositWallet? {
        try await database.client.query("\(Self.columns) WHERE anchor_account_id = \(id)").first.map(Self.wallet)
    }

    /// As above, within a transaction.
    func find(anchorAccountID id: String, in transaction: EventTransaction) async throws -> DepositWallet? {
        try await transaction.query("\(Self.columns) WHERE anchor_account_id = \(id)").first.map(Self.wallet)
    }

    /// A user's account, locked until the transaction ends.
    func lock(_ user: UserID, in transaction: EventTransaction) async throws -> DepositWallet? {
        try await transaction.query("\(Self.columns) WHERE user_id = \(user.uuid) FOR UPDATE").first.map(Self.wallet)
    }

    // MARK: What events say

    /// The provider knows the user.
    ///
    /// - Returns: Whether the user is verified too, so that the account may be opened.
    func record(_ event: Event<CustomerCreated>, in transaction: EventTransaction) async throws -> Bool {
        let data = event.data
        try await transaction.stage(
            """
            INSERT INTO accounts (id, user_id, created_at, updated_at, account_type, anchor_customer_id,
                customer_sequence)
            VALUES (\(transaction.makeID()), \(data.userID), \(transaction.now), \(transaction.now),
                \(data.accountType.text), \(data.anchorCustomerID), \(event.attributes.sequence))
            ON CONFLICT (user_id) DO UPDATE SET account_type = excluded.account_type,
                anchor_customer_id = excluded.anchor_customer_id, customer_sequence = excluded.customer_sequence,
                updated_at = excluded.updated_at
            WHERE accounts.customer_sequence < excluded.customer_sequence
            """
        )
        return try await self.lock(UserID(data.userID), in: transaction)?.isVerified ?? false
    }

    /// The provider has verified the user.
    func record(_ event: Event<CustomerVerified>, in transaction: EventTransaction) async throws {
        try await transaction.stage(
            """
            INSERT INTO accounts (id, user_id, created_at, updated_at, verified_at)
            VALUES (\(transaction.makeID()), \(event.data.userID), \(transaction.now), \(transaction.now),
                \(transaction.now))
            ON CONFLICT (user_id) DO UPDATE SET verified_at = excluded.verified_at, updated_at = excluded.updated_at
            WHERE accounts.verified_at IS NULL
            """
        )
    }

    /// The data key is gone: what is sealed can be dropped.
    func record(_ event: Event<UserErased>, in transaction: EventTransaction) async throws {
        try await transaction.stage(
            """
            INSERT INTO accounts (id, user_id, created_at, updated_at, erased_at)
            VALUES (\(transaction.makeID()), \(event.data.userID), \(transaction.now), \(transaction.now),
                \(transaction.now))
            ON CONFLICT (user_id) DO UPDATE SET account_number = NULL, account_name = NULL,
                erased_at = excluded.erased_at, updated_at = excluded.updated_at
            WHERE accounts.erased_at IS NULL
            """
        )
    }

    // MARK: What the provider says

    /// Notes the provider's id.
    func setAnchorAccountID(_ id: String, of user: UserID, in transaction: EventTransaction) async throws {
        try await transaction.stage(
            """
            UPDATE accounts SET anchor_account_id = \(id), updated_at = \(transaction.now)
            WHERE user_id = \(user.uuid) AND anchor_account_id IS NULL
            """
        )
    }

    /// Which of these accounts of the provider are of other users.
    func heldByOthers(
        _ anchorAccountIDs: [String],
        than user: UserID,
        on database: EventDatabase
    ) async throws -> Set<String> {
        guard !anchorAccountIDs.isEmpty else { return [] }
        let rows = try await database.client.query(
            """
            SELECT anchor_account_id FROM accounts
            WHERE anchor_account_id = ANY (\(anchorAccountIDs)) AND user_id <> \(user.uuid)
            """
        )
        return Set(try rows.map { try $0.decode(String.self) })
    }

    /// The number is there.
    func saveOpened(_ wallet: DepositWallet, in transaction: EventTransaction) async throws {
        try await transaction.stage(
            """
            UPDATE accounts SET status = 'open', account_number = \(wallet.accountNumber?.text),
                account_name = \(wallet.accountName?.text), bank_name = \(wallet.bankName),
                opened_at = \(transaction.now), updated_at = \(transaction.now)
            WHERE id = \(wallet.id)
            """
        )
    }

    // MARK: Sweeping

    /// The provider's ids of up to `limit` open accounts that were not taken here for `age`, oldest first; taken now.
    func takeForSweep(_ limit: Int, age: Duration, in transaction: EventTransaction) async throws -> [String] {
        try await transaction.query(
            """
            UPDATE accounts SET swept_at = transfa_now()
            WHERE id = ANY (ARRAY(
                SELECT id FROM accounts
                WHERE status = 'open'
                    AND coalesce(swept_at, opened_at) <= transfa_now() - \(age / .seconds(1)) * interval '1 second'
                ORDER BY coalesce(swept_at, opened_at) LIMIT \(Int64(limit)) FOR NO KEY UPDATE SKIP LOCKED))
            RETURNING anchor_account_id
            """
        ).map { try $0.decode(String.self) }
    }

    // MARK: Restores

    /// Whether this database was ever restored: then the provider may have accounts that it does not know.
    func wasRestored(on database: EventDatabase) async throws -> Bool {
        try await !database.client.query("SELECT 1 FROM recoveries LIMIT 1").isEmpty
    }

    /// Whether payments of an account may have been forgotten by a restore, and were not all listed since.
    func mayLackPayments(_ anchorAccountID: String, on database: EventDatabase) async throws -> Bool {
        try await !database.client.query(
            """
            SELECT 1 FROM recoveries r JOIN accounts a ON a.anchor_account_id = \(anchorAccountID)
            WHERE r.begun_at > coalesce(a.listed_at, '-infinity') LIMIT 1
            """
        ).isEmpty
    }

    /// All payments of the account were listed, as they stood at a moment.
    func noteListed(_ anchorAccountID: String, at moment: Date, in transaction: EventTransaction) async throws {
        try await transaction.stage(
            "UPDATE accounts SET listed_at = \(moment) WHERE anchor_account_id = \(anchorAccountID)"
        )
    }

    // MARK: Rows

    private static let columns: SQL = """
        SELECT id, user_id, account_type, anchor_customer_id, verified_at IS NOT NULL AS is_verified,
            erased_at IS NOT NULL AS is_erased, anchor_account_id, status, account_number, account_name, bank_name
        FROM accounts
        """

    private static func wallet(_ row: PostgresRow) throws -> DepositWallet {
        let (id, user, type, customer, isVerified, isErased, account) = try row.decode(
            UUID.self,
            UUID.self,
            String?.self,
            String?.self,
            Bool.self,
            Bool.self,
            String?.self
        )
        return DepositWallet(
            id: id,
            user: UserID(user),
            accountType: type.map { Open($0) },
            anchorCustomerID: customer,
            isVerified: isVerified,
            isErased: isErased,
            anchorAccountID: account,
            status: WalletStatus(rawValue: try row["status"].decode(String.self)) ?? .pending,
            accountNumber: try row["account_number"].decode(String?.self).map { Sealed($0) },
            accountName: try row["account_name"].decode(String?.self).map { Sealed($0) },
            bankName: try row["bank_name"].decode(String?.self)
        )
    }
}
