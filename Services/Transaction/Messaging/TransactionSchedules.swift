import Messaging

/// What transaction does by the clock.
enum TransactionSchedules {
    static func all(
        _ reconciliation: ReconciliationStore,
        _ recoveries: RecoveryStore,
        _ bills: BillStore
    ) -> [Schedule] {
        let billing: [Schedule] =
            bills.billing.payer == .nobody
            ? [] : [Schedule("ask_bills", every: .seconds(300)) { try await bills.ask(in: $0) }]
        return Self.upkeep + billing + [
            // Over hours: nobody waits for it, and the provider should not feel it.
            Schedule("reconcile", every: .seconds(86_400)) { transaction in
                try await reconciliation.ask(for: nil, spread: .seconds(4 * 3600), in: transaction)
            },
            Schedule("continue_recovery", every: .seconds(5)) { try await recoveries.continue(in: $0) },
        ]
    }

    private static let upkeep = [
        Schedule("prune_orders", every: .seconds(10)) { try await LedgerUpkeep().prune(in: $0) },
        // The job of a transfer does it too, but not while the provider cannot be reached.
        Schedule("fail_unsent", every: .seconds(600)) { try await LedgerUpkeep().failUnsent(in: $0) },
        Schedule("weigh_banks", every: .seconds(30)) { try await LedgerUpkeep().weighBanks(in: $0) },
        Schedule("note_risk_alerts", every: .seconds(60)) { try await RiskAlertStore().note(in: $0) },
        // What people see end, and money that goes back to them.
        Schedule("sweep_money_drops", every: .seconds(2)) { try await LedgerUpkeep().sweepMoneyDrops(in: $0) },
        Schedule("expire_payment_requests", every: .seconds(5)) { try await LedgerUpkeep().expireRequests(in: $0) },
    ]
}
