import Postgres

/// How a bank is doing.
struct BankHealth: Sendable, Encodable {
    let bankCode: String
    let status: String
    let transfers: Int32
    let failed: Int32
    let late: Int32
    let medianSeconds: Int32?

    private enum CodingKeys: String, CodingKey {
        case bankCode = "bank_code"
        case status
        case transfers
        case failed
        case late
        case medianSeconds = "median_seconds"
    }
}

/// The table `bank_health`, which a schedule fills.
struct BankHealthStore: Sendable {
    let client: PostgresClient

    /// Those in trouble first.
    func all() async throws -> [BankHealth] {
        try await self.client.query(
            """
            SELECT bank_code, status, transfers, failed, late, median_seconds FROM bank_health
            ORDER BY status = 'normal', status, bank_code LIMIT 1000
            """
        ).map { row in
            let (code, status, transfers, failed, late, median) = try row.decode(
                String.self,
                String.self,
                Int32.self,
                Int32.self,
                Int32.self,
                Int32?.self
            )
            return BankHealth(
                bankCode: code,
                status: status,
                transfers: transfers,
                failed: failed,
                late: late,
                medianSeconds: median
            )
        }
    }
}
