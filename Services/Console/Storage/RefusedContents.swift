import Postgres

/// Tells errors that are about the rows from those that pass.
enum RefusedContents {
    /// Whether the database will never take these rows: a value it cannot hold (22), a rule that is broken (23), or one
    /// that is too large (54).
    static func isReason(_ error: any Error) -> Bool {
        let found = (error as? PostgresError) ?? (error as? PostgresTransactionError)?.underlying
        guard let found else { return false }
        if found.code == .encoding { return true }
        return ["22", "23", "54"].contains { found.sqlState?.hasPrefix($0) == true }
    }
}
