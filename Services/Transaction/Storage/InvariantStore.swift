import Postgres

/// Something in the books that does not hold.
struct InvariantBreach: Sendable, Encodable {
    let name: String
    let detail: String
}

/// Checks the books as they stand.
struct InvariantStore: Sendable {
    let client: PostgresClient

    /// What does not hold; empty when all does.
    func breaches() async throws -> [InvariantBreach] {
        try await self.client.query("SELECT name, detail FROM check_invariants()").map { row in
            let (name, detail) = try row.decode(String.self, String.self)
            return InvariantBreach(name: name, detail: detail)
        }
    }
}
