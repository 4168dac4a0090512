/// How much of what the provider lists of an account has an entry of ours that says the same.
struct ExplainedMoney: Sendable, Equatable {
    /// Kobo of the transfers and payments that are listed.
    let listed: Int64
    /// Kobo of those of them that agree with ours.
    let matched: Int64

    /// Adds up what is listed, and what of it is in no difference.
    ///
    /// What failed moved nothing, and what comes from a reconciled account is counted there.
    init(_ theirs: TheirBooks, but differences: [BookDifference], reconciled: Set<String>) {
        let keys = Set(differences.map(\.key))
        let transfers = theirs.transfers.filter { $0.status != .failed && !$0.isShown(by: reconciled) }
        // A difference may name a payment by the other of its ids.
        let numbers = Set(keys.map(BookComparison.number))
        let agreeing = transfers.filter { !keys.contains($0.id) && !keys.contains($0.reference) }
        let taken = theirs.payments.filter { !numbers.contains(BookComparison.number($0.id)) }
        self.listed = Self.sum(transfers.map(\.amount)) + Self.sum(theirs.payments.map(\.amount))
        self.matched = Self.sum(agreeing.map(\.amount)) + Self.sum(taken.map(\.amount))
    }

    private static func sum(_ amounts: [Int64]) -> Int64 { amounts.reduce(0, +) }
}
