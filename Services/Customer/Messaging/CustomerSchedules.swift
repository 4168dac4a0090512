import Contracts
import Messaging

/// What customer does by the clock.
enum CustomerSchedules {
    /// The schedules.
    static func make(enquiries: EnquiryStore) -> [Schedule] {
        [
            .heartbeat(of: .customer) { CustomerHeartbeat(at: $0) },
            Schedule("refresh_banks", every: .seconds(3600)) { transaction in
                try await transaction.requeue(CustomerJob.refreshBanks, key: RefreshBanks.key)
            },
            Schedule("prune_enquiries", every: .seconds(3600)) { try await enquiries.prune(in: $0) },
        ]
    }
}
