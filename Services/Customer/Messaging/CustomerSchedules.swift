import Messaging

/// What customer does by the clock.
enum CustomerSchedules {
    /// The schedules, beside the heartbeat.
    static func make(enquiries: EnquiryStore) -> [Schedule] {
        [
            Heartbeat.schedule,
            Schedule("refresh_banks", every: .seconds(3600)) { transaction in
                try await transaction.requeue(CustomerJob.refreshBanks, key: RefreshBanks.key)
            },
            Schedule("prune_enquiries", every: .seconds(3600)) { try await enquiries.prune(in: $0) },
        ]
    }
}
