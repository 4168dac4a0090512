import Postgres

extension PostgresError {
    /// The database error inside an error; nil when there is none.
    static func first(in error: any Error) -> PostgresError? {
        (error as? PostgresError) ?? (error as? PostgresTransactionError)?.underlying
    }
}
