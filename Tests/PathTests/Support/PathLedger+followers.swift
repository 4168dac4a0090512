import Contracts
import ServiceTestSupport

@testable import TransactionService

extension PathLedger {
    /// Runs `body` on a fresh ledger, with the services that follow it.
    static func withFollowers(_ body: (PathLedger, Followers) async throws -> Void) async throws {
        try await withServiceDatabase(
            .transaction,
            schema: try TransactionSchema.sets(),
            handlers: PathLedger.handlers
        ) { service in
            try await AnalyticsFollower.with { analytics in
                try await CustomerFollower.with { customer in
                    try await NotificationFollower.with { notification in
                        try await body(
                            PathLedger(service: service),
                            Followers(analytics, customer, notification)
                        )
                    }
                }
            }
        }
    }
}
