import Messaging

/// What transaction does by the clock.
enum TransactionSchedules {
    static func all(_ deadlines: SweepDeadlines) -> [Schedule] {
        self.upkeep + deadlines.schedules
    }

    private static let upkeep = [
        Schedule("prune_acceptance", every: .seconds(600)) { try await LedgerUpkeep().prune(in: $0) },
        // The job of a transfer does it too, but not while the provider cannot be reached.
        Schedule("fail_unsent", every: .seconds(600)) { try await LedgerUpkeep().failUnsent(in: $0) },
    ]
}
