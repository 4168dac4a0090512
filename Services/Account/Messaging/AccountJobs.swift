import Messaging

/// Job -> what runs it.
enum AccountJobs {
    /// The table.
    ///
    /// A lease covers the longest chain of calls of ten seconds each.
    static func make(
        openAccount: OpenAccount,
        fetchAccount: FetchAccount,
        readPayment: ReadPayment,
        sweepPayments: SweepPayments
    ) -> [JobDefinition] {
        [
            JobDefinition(AccountJob.openAccount, lease: .seconds(60)) { try await openAccount($0) },
            JobDefinition(AccountJob.fetchAccount, lease: .seconds(60)) { try await fetchAccount($0) },
            JobDefinition(AccountJob.readPayment, concurrency: 8, lease: .seconds(60)) { try await readPayment($0) },
            // Few at a time: what a person waits for goes first at the provider.
            JobDefinition(AccountJob.sweepPayments, concurrency: 2, lease: .seconds(90)) {
                try await sweepPayments($0)
            },
        ]
    }
}
