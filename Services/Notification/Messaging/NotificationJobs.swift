import Messaging

/// Job -> what runs it.
enum NotificationJobs {
    /// The table.
    static func make(checkCustomer: CheckCustomer) -> [JobDefinition] {
        [
            JobDefinition(
                NotificationJob.checkCustomer,
                concurrency: 8,
                lease: .seconds(60),
                firstPause: .seconds(10)
            ) { try await checkCustomer($0) }
        ]
    }
}
