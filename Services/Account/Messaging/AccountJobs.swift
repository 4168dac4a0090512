import Messaging

/// Job -> what runs it.
enum AccountJobs {
    /// The table.
    ///
    /// A lease covers the longest chain of calls of ten seconds each.
    static func make(openAccount: OpenAccount, fetchAccount: FetchAccount, readPayment: ReadPayment) -> [JobDefinition]
    {
        [
            JobDefinition(AccountJob.openAccount, lease: .seconds(60)) { try await openAccount($0) },
            JobDefinition(AccountJob.fetchAccount, lease: .seconds(60)) { try await fetchAccount($0) },
            JobDefinition(AccountJob.readPayment, concurrency: 8, lease: .seconds(60)) { try await readPayment($0) },
        ]
    }
}
