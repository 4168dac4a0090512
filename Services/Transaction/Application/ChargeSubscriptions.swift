import Messaging
import Primitives

/// Job: takes plans' prices from wallets, each attempt once.
struct ChargeSubscriptions: Sendable {
    let database: EventDatabase
    let store: ChargeStore

    private static let staleRetry = Duration.seconds(5)

    /// Runs a batch of jobs, whose payloads are the attempts.
    func callAsFunction(_ jobs: [Job]) async throws -> [JobOutcome] {
        let orders = try jobs.map { try $0.payload(as: ChargeOrder.self) }
        let results = try await self.database.transaction(cause: jobs[0].cause) { transaction in
            try await self.store.charge(orders, in: transaction)
        }
        CrashPoint.reach("after_charge")
        return results.map { result in
            switch result {
            case .paid, .refused, .known: .done
            case .stale: .again(reason: "read_model_stale", after: Self.staleRetry)
            }
        }
    }
}
