import Messaging
import Postgres

extension MoneyProjection {
    /// The generation that people see, in a statement.
    static let live: SQL = "(SELECT live FROM projections WHERE name = 'money')"
}
