import Contracts
import Messaging

/// What customer does by the clock.
enum CustomerSchedules {
    /// The schedules.
    static func make(enquiries: EnquiryStore, exports: ExportStore) -> [Schedule] {
        [
            .heartbeat(of: .customer) { CustomerHeartbeat(at: $0) },
            Schedule("refresh_banks", every: .seconds(3600)) { transaction in
                try await transaction.requeue(CustomerJob.refreshBanks, key: RefreshBanks.key)
            },
            Schedule("prune_exports", every: .seconds(60)) { try await exports.prune(in: $0) },
            Schedule("prune_enquiries", every: .seconds(3600)) { try await enquiries.prune(in: $0) },
        ]
    }
}
