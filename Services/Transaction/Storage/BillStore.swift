import Foundation
import Messaging
import Postgres
import Primitives

/// What the provider bills, as the ledger has it; as worker.
struct BillStore: Sendable {
    let client: PostgresClient
    let billing: ProviderBilling

    /// Bills of one transaction.
    private static let mostAtOnce = 500

    /// Asks for the bills of accounts that may have some.
    func ask(in transaction: EventTransaction) async throws {
        try await transaction.stage(
            "SELECT ask_bills(\(self.billing.account), \(self.billing.payer == .customers))"
        )
    }

    /// When the newest bill was made that is booked on an account.
    func newest(of account: String) async throws -> Date? {
        try await self.client.query(
            "SELECT max(billed_at) FROM provider_bills WHERE provider_account = \(account)"
        ).first?.decode(Date?.self)
    }

    /// Books those of an account's bills that are not booked, in several transactions.
    func book(
        _ bills: [TheirBooks.Bill],
        of account: String,
        in database: EventDatabase,
        cause: Cause
    ) async throws {
        for start in stride(from: 0, to: bills.count, by: Self.mostAtOnce) {
            let part = Array(bills[start..<min(bills.count, start + Self.mostAtOnce)])
            try await database.transaction(cause: cause) { transaction in
                try await transaction.stage(
                    """
                    SELECT book_bills(\(account), \(part.map(\.id)), \(part.map(\.kind)), \(part.map(\.amount)),
                        \(part.map(\.reference))::text[], \(part.map { $0.billedAt ?? transaction.now })::timestamptz[],
                        \(part.map { _ in transaction.makeID() }))
                    """
                )
            }
        }
    }

    /// How many bills are of kinds of which nobody has said where they belong.
    func unforeseen() async throws -> Int64 {
        try await self.client.query(
            """
            SELECT count(*) FROM provider_bills b
            WHERE NOT b.is_known AND NOT EXISTS (SELECT 1 FROM bill_accounts a WHERE a.kind = b.kind)
            """
        ).first?.decode(Int64.self) ?? 0
    }
}
