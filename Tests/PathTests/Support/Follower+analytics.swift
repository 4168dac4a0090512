import Contracts
import Foundation
import Messaging
import Primitives
import ServiceTestSupport

@testable import AnalyticsService

/// Analytics, as far as it follows the ledger.
struct AnalyticsFollower: Follower {
    let service: ServiceDatabase

    var handlers: EventHandlers { Self.handlers }
    static var money: Projection { MoneyProjection.make(FactStore()) }
    static var handlers: EventHandlers { AnalyticsHandlers.make(money: Self.money, people: CounterpartyStore()) }

    static func with(_ body: (AnalyticsFollower) async throws -> Void) async throws {
        try await withServiceDatabase(
            .analytics,
            schema: try AnalyticsSchema.sets(),
            handlers: Self.handlers,
            projections: [Self.money]
        ) { try await body(AnalyticsFollower(service: $0)) }
    }

    /// Kobo that somebody sees come in and go out, and pay in fees, of all days there are.
    func totals(_ user: UserID) async throws -> (moneyIn: Int64, moneyOut: Int64, fees: Int64) {
        let day = LagosCalendar.day(of: self.clock.now)
        let period = try LagosPeriod(
            from: day.adding(days: -30).description,
            to: day.description,
            now: self.clock.now
        )
        let totals = try await TotalStore().sum(period, of: user, on: self.requests)
        return (totals.inWallet.kobo + totals.inBank.kobo, totals.moneyOut.kobo, totals.fees.kobo)
    }
}
