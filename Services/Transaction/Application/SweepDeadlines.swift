import Messaging

/// By the clock: drops and requests whose time is over end, and what is left of drops goes back.
struct SweepDeadlines: Sendable {
    let drops: MoneyDropStore
    let requests: PaymentRequestStore

    /// So many a run, so that a run is short; what is left comes next time.
    private static let batch = 200

    /// The schedules: a run on any replica, never two at once.
    var schedules: [Schedule] {
        [
            Schedule("sweep_money_drops", every: .seconds(2)) { transaction in
                try await self.drops.sweep(limit: Self.batch, in: transaction)
            },
            Schedule("expire_payment_requests", every: .seconds(5)) { transaction in
                try await self.requests.sweep(limit: Self.batch, in: transaction)
            },
        ]
    }
}
