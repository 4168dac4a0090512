import Messaging

/// Job -> what runs it.
enum CustomerJobs {
    /// The table.
    ///
    /// A lease covers the longest chain of calls of ten seconds each.
    static func make(
        createCustomer: CreateCustomer,
        startVerification: StartVerification,
        verifyBeneficiary: VerifyBeneficiary,
        compareNames: CompareNames,
        answerEnquiry: AnswerEnquiry,
        refreshBanks: RefreshBanks,
        discardImage: DiscardImage,
        listDocuments: ListDocuments,
        deliverDocument: DeliverDocument,
        collectExport: CollectExport
    ) -> [JobDefinition] {
        [
            JobDefinition(CustomerJob.createCustomer, lease: .seconds(90)) { try await createCustomer($0) },
            JobDefinition(CustomerJob.startVerification, lease: .seconds(90)) { try await startVerification($0) },
            JobDefinition(CustomerJob.verifyBeneficiary, lease: .seconds(90)) { try await verifyBeneficiary($0) },
            JobDefinition(CustomerJob.compareNames) { try await compareNames($0) },
            JobDefinition(CustomerJob.enquireName, lease: .seconds(60)) { try await answerEnquiry($0) },
            JobDefinition(CustomerJob.refreshBanks, concurrency: 1) { try await refreshBanks($0) },
            JobDefinition(CustomerJob.discardImage) { try await discardImage($0) },
            JobDefinition(CustomerJob.listDocuments) { try await listDocuments($0) },
            // Few at a time: each has a whole file in memory.
            JobDefinition(CustomerJob.deliverDocument, concurrency: 2) { try await deliverDocument($0) },
            JobDefinition(CustomerJob.collectExport, concurrency: 2, lease: CollectExport.lease) {
                try await collectExport($0)
            },
        ]
    }
}
