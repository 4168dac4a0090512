import Foundation

extension TestDatabase {
    /// A checksum of the rows of every table, partitions in their tables.
    ///
    /// - Parameter left: Tables that may change.
    /// - Returns: Checksums by the names of the tables.
    /// - Throws: `TestFailure` when psql fails.
    public func checksums(leaving left: Set<String> = []) async throws -> [String: String] {
        let tables = try await self.psql(
            """
            SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
                AND NOT relispartition
            """
        ).filter { !left.contains($0) }
        let sums = tables.map { table in
            "SELECT '\(table)', count(*) || ':' || coalesce(md5(string_agg(t::text, ',' ORDER BY t::text)), '') FROM \"\(table)\" t"
        }
        var checksums: [String: String] = [:]
        for line in try await self.psql(sums.joined(separator: " UNION ALL ")) {
            let parts = line.split(separator: "|", maxSplits: 1)
            checksums[String(parts[0])] = parts.count == 2 ? String(parts[1]) : ""
        }
        return checksums
    }
}
