import Foundation

/// What the ledger says is to be done about a transfer that wants to leave.
struct SubmissionStep: Sendable {
    /// What to do.
    enum Verdict: String, Sendable {
        /// The call is on record: make it.
        case send
        /// A call was made before: ask by reference first.
        case query
        /// It moves money out of suspense: ask whether the payment stands that brought it there.
        case ask
        /// The read model is too old to decide; nothing was done.
        case stale
        /// The ledger was restored and may have forgotten that it was sent: ask, and send nothing.
        case doubt
        /// The ledger was restored, and nothing is sent until it agrees with the provider.
        case recovering
        /// Not yet: an absence must be old enough before the order is repeated.
        case wait
        /// The recheck failed it and gave everything back.
        case failed
        /// It has ended already.
        case ended
        /// There is no such transfer.
        case missing
    }

    let transaction: UUID
    let verdict: Verdict
    let kind: String?
    let reference: String?
    let attempt: Int32?
    let sourceAccount: String?
    let destination: String?
    let amount: Int64?
    let notBefore: Date?
    /// The payment that is to be asked about.
    let payment: UUID?

    /// Nothing is to be done yet about a transfer.
    static func stale(_ transaction: UUID) -> Self { .unsent(transaction, .stale) }

    /// Something that sends nothing is to be done about a transfer.
    static func unsent(_ transaction: UUID, _ verdict: Verdict, reference: String? = nil) -> Self {
        SubmissionStep(
            transaction: transaction,
            verdict: verdict,
            kind: nil,
            reference: reference,
            attempt: nil,
            sourceAccount: nil,
            destination: nil,
            amount: nil,
            notBefore: nil,
            payment: nil
        )
    }
}
