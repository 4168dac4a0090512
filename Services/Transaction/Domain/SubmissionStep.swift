import Foundation

/// What the ledger says is to be done about a transfer that wants to leave.
struct SubmissionStep: Sendable {
    /// What to do.
    enum Verdict: String, Sendable {
        /// The call is on record: make it.
        case send
        /// A call was made before: ask by reference first.
        case query
        /// The read model is too old to decide; nothing was done.
        case stale
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

    /// Nothing is to be done yet about a transfer.
    static func stale(_ transaction: UUID) -> Self {
        SubmissionStep(
            transaction: transaction,
            verdict: .stale,
            kind: nil,
            reference: nil,
            attempt: nil,
            sourceAccount: nil,
            destination: nil,
            amount: nil,
            notBefore: nil
        )
    }
}
