import Contracts
import Foundation
import Messaging
import Postgres
import Primitives
import ServiceTestSupport
import TestSupport

@testable import AnalyticsService

/// Analytics on a database of its own, without HTTP and broker.
struct AnalyticsWorld: ServiceWorld {
    let service: ServiceDatabase

    let bayo = UserID(clerkSubject: "user_bayo")

    var handlers: EventHandlers { AnalyticsHandlers.make(movements: MovementStore()) }

    /// What a user sees of some days.
    func totals(_ user: UserID, from: String, to: String) async throws -> Totals {
        let period = try Period(from: from, to: to, now: self.clock.now)
        return try await DailyTotalStore().sum(period, of: user, on: self.requests)
    }

    /// How many rows of totals the role of requests sees for a user.
    func rows(visibleTo user: UserID?) async throws -> Int64? {
        let sql: SQL = "SELECT count(*) FROM daily_totals"
        return try await self.requests.client.query(sql, as: user?.uuid).first?.decode(Int64.self)
    }

    /// What a user sees of November 2026.
    func november(_ user: UserID) async throws -> Totals {
        try await self.totals(user, from: "2026-11-01", to: "2026-11-30")
    }
}

extension AnalyticsWorld {
    /// Ada's transfer to Bayo.
    func completed(
        _ id: UUID,
        amount: Int64 = 500_000,
        type: TransactionType = .p2p,
        route: TransferRoute = .external,
        at timestamp: String = "2026-11-21T09:00:00.000Z"
    ) -> TransactionCompleted {
        TransactionCompleted(
            transactionID: id,
            senderID: self.ada.uuid,
            recipientID: self.bayo.uuid,
            amount: amount,
            type: Open(type),
            route: Open(route),
            fee: 2_500,
            duty: 5_000,
            timestamp: timestamp
        )
    }

    /// The return of Ada's transfer to Bayo.
    func reversed(_ id: UUID, at timestamp: String = "2026-11-23T09:00:00.000Z") -> TransactionReversed {
        TransactionReversed(
            transactionID: id,
            senderID: self.ada.uuid,
            recipientID: self.bayo.uuid,
            amount: 500_000,
            type: Open(.p2p),
            route: Open(.external),
            fee: 2_500,
            duty: 5_000,
            timestamp: timestamp
        )
    }

    /// Money for Bayo from outside.
    func credited(_ id: UUID, amount: Int64, reference: String? = nil) -> WalletCredited {
        WalletCredited(
            userID: self.bayo.uuid,
            paymentID: id,
            providerPaymentID: "1-\(id.lowercased)",
            anchorAccountID: "1-acc",
            amount: amount,
            reference: reference,
            timestamp: "2026-11-21T09:00:00.000Z"
        )
    }
}

/// Runs `body` with analytics on a fresh database.
func withAnalytics(_ body: (AnalyticsWorld) async throws -> Void) async throws {
    try await withServiceDatabase(
        .analytics,
        migrations: try AnalyticsMigrations.all(),
        handlers: AnalyticsHandlers.make(movements: MovementStore())
    ) { service in
        try await body(AnalyticsWorld(service: service))
    }
}
