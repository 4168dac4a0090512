import Messaging
import Postgres
public import ServiceKit

extension Exports {
    /// Columns that name a person.
    private static let personal: Set<String> = [
        "user_id", "sender_id", "recipient_id", "payer_id", "owner_id", "creator_id", "claimant_id", "blocked_id",
        "counterparty_id", "low_id", "high_id", "subject", "username", "recipient_username", "clerk_subject",
    ]

    /// What is wrong with a declaration, compared with the migrated database: tables about people that nobody has named
    /// or excused, and columns that nobody has decided about.
    ///
    /// Who adds a table or a column decides then whether a person who asks is given it.
    public func gaps(in service: ServiceDatabase) async throws -> [String] {
        let columns = try await Self.columns(of: service)
        let named = Set(self.tables.map(\.name)).union(self.excuses.map(\.table))
        var gaps: [String] = []
        for (table, found) in columns where !named.contains(table) {
            guard table == "users" || !found.isDisjoint(with: Self.personal) else { continue }
            gaps.append("\(table) is about people, and neither given nor excused")
        }
        for table in self.tables {
            let found = columns[table.name] ?? []
            gaps += found.subtracting(table.decided).map { "\(table.title): \($0) is neither given nor left out" }
            gaps += table.decided.subtracting(found).map { "\(table.title) has no column \($0)" }
            gaps += table.leftOut.filter { $0.value.isEmpty }.map {
                "\(table.title): \($0.key) is left out without reason"
            }
        }
        for excuse in self.excuses where columns[excuse.table] == nil || excuse.reason.isEmpty {
            gaps.append("\(excuse.table) is excused in vain")
        }
        return gaps.sorted()
    }

    /// The tables of the database, without partitions, and their columns.
    ///
    /// From the catalogue itself: the information schema shows a role only what it may read.
    private static func columns(of service: ServiceDatabase) async throws -> [String: Set<String>] {
        let rows = try await service.work.client.query(
            """
            SELECT c.relname::text, a.attname::text
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
            WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND a.attnum > 0
                AND NOT a.attisdropped
            """
        )
        var columns: [String: Set<String>] = [:]
        for row in rows {
            let (table, column) = try row.decode(String.self, String.self)
            columns[table, default: []].insert(column)
        }
        return columns
    }
}
