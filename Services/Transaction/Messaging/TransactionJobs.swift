import Foundation
import Messaging
import Primitives

/// Names of the kinds of jobs; `submit_transfer` is also written by the acceptance function.
enum TransactionJob {
    static let submit: JobKind = "submit_transfer"
    static let fact: JobKind = "apply_transfer_fact"
    static let credit: JobKind = "credit_wallet"
    static let check: JobKind = "check_transfer"
    static let discardImage: JobKind = "discard_image"
    static let closeProducts: JobKind = "close_products"
    static let charge: JobKind = "charge_subscription"
    /// Also written by `ask_reconciliation`.
    static let reconcile: JobKind = "reconcile_account"
    /// Written by `continue_recovery`.
    static let recover: JobKind = "recover_account"
    /// Written by `ask_bills`.
    static let bills: JobKind = "book_bills"
}

extension EventTransaction {
    /// Has the provider asked how a transfer stands that had ended.
    func requeueCheck(of transfer: UUID) async throws {
        try await self.requeue(TransactionJob.check, key: transfer.lowercased, subject: transfer.lowercased)
    }
}

/// Job -> what runs it.
enum TransactionJobs {
    /// The table.
    ///
    /// One worker applies facts at a time: a second on the same accounts would only wait.
    static func make(
        submit: SubmitTransfers,
        facts: ApplyTransferFacts,
        credits: CreditWallets,
        check: CheckTransfer,
        charges: ChargeSubscriptions,
        reconcile: ReconcileAccount,
        recover: RecoverAccount,
        bills: BookBills,
        discardImage: DiscardRequestImage,
        closeProducts: CloseProducts
    ) -> [JobDefinition] {
        [
            JobDefinition(
                TransactionJob.submit,
                batch: 64,
                concurrency: 4,
                lease: .seconds(60),
                firstPause: .seconds(20),
                maximumPause: .seconds(600)
            ) { try await submit($0) },
            JobDefinition(
                TransactionJob.fact,
                batch: 64,
                concurrency: 1,
                firstPause: .milliseconds(500)
            ) { try await facts($0) },
            JobDefinition(
                TransactionJob.credit,
                batch: 64,
                concurrency: 1,
                firstPause: .milliseconds(500)
            ) { try await credits($0) },
            JobDefinition(TransactionJob.check, firstPause: .seconds(10)) { try await check($0) },
            JobDefinition(TransactionJob.discardImage) { try await discardImage($0) },
            JobDefinition(TransactionJob.closeProducts, concurrency: 1) { try await closeProducts($0) },
            JobDefinition(
                TransactionJob.charge,
                batch: 64,
                concurrency: 1,
                firstPause: .milliseconds(500)
            ) { try await charges($0) },
            // One at a time: what a person waits for goes first at the provider. A lease covers a few long lists.
            JobDefinition(TransactionJob.reconcile, concurrency: 1, lease: .seconds(600), firstPause: .seconds(10)) {
                try await reconcile($0)
            },
            JobDefinition(TransactionJob.recover, concurrency: 2, lease: .seconds(600), firstPause: .seconds(10)) {
                try await recover($0)
            },
            JobDefinition(TransactionJob.bills, concurrency: 2, lease: .seconds(600), firstPause: .seconds(10)) {
                try await bills($0)
            },
        ]
    }
}
