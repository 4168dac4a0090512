import Messaging

/// Job -> what runs it.
enum NotificationJobs {
    /// The table; without a way to push there are no such jobs.
    static func make(
        checkCustomer: CheckCustomer,
        confirmVerdict: ConfirmVerdict,
        sendPush: SendPush?
    ) -> [JobDefinition] {
        var jobs = [
            JobDefinition(
                NotificationJob.checkCustomer,
                concurrency: 8,
                lease: .seconds(60),
                firstPause: .seconds(10)
            ) { try await checkCustomer($0) },
            // People wait for it.
            JobDefinition(
                NotificationJob.confirmVerdict,
                concurrency: 8,
                lease: .seconds(60),
                firstPause: .milliseconds(500)
            ) { try await confirmVerdict($0) },
        ]
        if let sendPush {
            // One connection carries them all at once.
            jobs.append(
                JobDefinition(NotificationJob.sendPush, concurrency: 16, firstPause: .seconds(2)) {
                    try await sendPush($0)
                }
            )
        }
        return jobs
    }
}
