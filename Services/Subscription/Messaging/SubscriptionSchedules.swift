import Contracts
import Messaging

/// What subscription does by the clock.
enum SubscriptionSchedules {
    /// The schedules.
    static func make(renew: RenewDue, lapse: LapseExpired, approvals: ApprovalStore) -> [Schedule] {
        [
            .heartbeat(of: .subscription) { SubscriptionHeartbeat(at: $0) },
            Schedule("renew_due", every: .seconds(5)) { try await renew(in: $0) },
            Schedule("lapse_expired", every: .seconds(10)) { try await lapse(in: $0) },
            Schedule("prune_nonces", every: .seconds(600)) { try await approvals.prune(in: $0) },
        ]
    }
}
