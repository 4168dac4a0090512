import Foundation

/// Compares our books of an account with the provider's.
///
/// Ours are read before and after theirs: what moved in between agrees with one of the two. The balance may differ by what
/// is under way and by what the other differences explain, and by nothing else.
struct BookComparison: Sendable {
    private let before: OurBooks
    private let after: OurBooks
    private let theirs: TheirBooks
    /// Accounts whose own looks show what they pay.
    private let reconciled: Set<String>

    private var differences: [BookDifference] = []
    /// What the differences explain of the balance: from, to.
    private var explained: (from: Int64, to: Int64) = (0, 0)

    /// Everything that differs.
    ///
    /// - Parameters:
    ///   - theirs: The provider's books.
    ///   - before: Ours before they were read.
    ///   - after: Ours after that.
    ///   - reconciled: Accounts of which a transfer into this one is shown by their own look.
    /// - Returns: The differences, in no order that matters.
    static func differences(
        of theirs: TheirBooks,
        from before: OurBooks,
        to after: OurBooks,
        reconciled: Set<String>
    ) -> [BookDifference] {
        var comparison = BookComparison(before: before, after: after, theirs: theirs, reconciled: reconciled)
        comparison.compareTransfers()
        comparison.comparePayments()
        comparison.compareBalance()
        return comparison.differences
    }

    private init(before: OurBooks, after: OurBooks, theirs: TheirBooks, reconciled: Set<String>) {
        self.before = before
        self.after = after
        self.theirs = theirs
        self.reconciled = reconciled
    }

    // MARK: Transfers

    private mutating func compareTransfers() {
        let rows = Dictionary(grouping: self.theirs.transfers) { $0.reference }
        let earlier = Dictionary(self.before.transfers.map { ($0.reference, $0) }) { first, _ in first }
        for ours in self.after.transfers {
            let named = rows[ours.reference] ?? []
            guard let row = named.first(where: { $0.id == ours.providerID }) ?? named.first else {
                self.missingThere(ours, earlier: earlier[ours.reference])
                continue
            }
            self.compare(ours, earlier: earlier[ours.reference], with: row)
            // Taken twice under one reference: only one of them is ours.
            for other in named where other.id != row.id { self.missingWithUs(other) }
        }
        let known = Set(self.after.transfers.map(\.reference))
        for row in self.theirs.transfers where !known.contains(row.reference) { self.missingWithUs(row) }
    }

    private mutating func missingThere(_ ours: OurBooks.Transfer, earlier: OurBooks.Transfer?) {
        // One that was sent after they were asked cannot be there, one that was not answered need not be.
        guard let earlier, Self.hasMoved(earlier), Self.hasMoved(ours) else { return }
        self.explain(-Self.effect(of: ours))
        self.report(.missingThere, ours.reference, ours: Self.text(ours), theirs: nil, ours.createdAt, ours.isOutgoing)
    }

    private mutating func missingWithUs(_ row: TheirBooks.Transfer) {
        let effect = Self.effect(of: row)
        self.explain(effect)
        let isShownHere = !row.isShown(by: self.reconciled)
        self.report(.missingWithUs, row.id, ours: nil, theirs: Self.text(row), row.createdAt, isShownHere)
    }

    private mutating func compare(
        _ ours: OurBooks.Transfer,
        earlier: OurBooks.Transfer?,
        with row: TheirBooks.Transfer
    ) {
        let states = [ours.state] + (earlier.map { [$0.state] } ?? [])
        let isOtherState = !states.contains { Self.agrees($0, with: row.status) }
        guard isOtherState || ours.amount != row.amount else { return }
        // While ours is open it is in what is under way.
        if !Self.isOpen(ours) { self.explain(Self.effect(of: row), less: Self.effect(of: ours)) }
        let kind = ours.amount == row.amount ? BookDifference.Kind.otherState : .otherAmount
        self.report(
            kind,
            ours.reference,
            ours: Self.text(ours),
            theirs: Self.text(row),
            ours.createdAt,
            ours.isOutgoing
        )
    }

    private static func agrees(_ state: String, with status: TheirBooks.Status) -> Bool {
        switch status {
        case .open: ["submitted", "unknown"].contains(state)
        case .completed, .failed, .reversed: state == status.rawValue
        }
    }

    private static func isOpen(_ ours: OurBooks.Transfer) -> Bool {
        ["accepted", "submitted", "unknown"].contains(ours.state)
    }

    private static func hasMoved(_ ours: OurBooks.Transfer) -> Bool {
        ["completed", "reversed"].contains(ours.state)
    }

    // MARK: Payments

    /// The digits before the kind: an inbound transfer and the payment made of it share them.
    static func number(_ id: String) -> Substring { id.prefix { $0 != "-" } }

    private mutating func comparePayments() {
        let taken = Dictionary(self.after.payments.map { (Self.number($0.id), $0) }) { first, _ in first }
        let takenBefore = Set(self.before.payments.map { Self.number($0.id) })
        let there = Set(self.theirs.payments.map { Self.number($0.id) })
        for payment in self.theirs.payments {
            guard let ours = taken[Self.number(payment.id)] else {
                self.explain((payment.amount, payment.amount))
                self.report(.missingWithUs, payment.id, ours: nil, theirs: "payment \(payment.amount)", payment.paidAt)
                continue
            }
            guard ours.amount != payment.amount else { continue }
            self.explain((payment.amount - ours.amount, payment.amount - ours.amount))
            let texts = (ours: "payment \(ours.amount)", theirs: "payment \(payment.amount)")
            self.report(.otherAmount, ours.id, ours: texts.ours, theirs: texts.theirs, ours.receivedAt)
        }
        for ours in self.after.payments
        where takenBefore.contains(Self.number(ours.id)) && !there.contains(Self.number(ours.id)) {
            self.explain((-ours.amount, -ours.amount))
            self.report(.missingThere, ours.id, ours: "payment \(ours.amount)", theirs: nil, ours.receivedAt)
        }
    }

    // MARK: Balance

    private mutating func compareBalance() {
        // Bills are booked while one looks, and were taken before: they leave no doubt about what was there.
        let before = self.before.expected - (self.after.billed - self.before.billed)
        let low = min(before - self.before.leaving, self.after.expected - self.after.leaving)
        let high = max(before + self.before.arriving, self.after.expected + self.after.arriving)
        let range = low + self.explained.from...high + max(0, self.theirs.pending) + self.explained.to
        guard !range.contains(self.theirs.ledger) else { return }
        let text = range.lowerBound == range.upperBound ? "\(low)" : "\(range.lowerBound) to \(range.upperBound)"
        let theirs = self.theirs.ledger
        let gap = theirs - (theirs < range.lowerBound ? range.lowerBound : range.upperBound)
        self.differences.append(
            BookDifference(kind: .balance, key: "balance", ours: text, theirs: "\(theirs)", happenedAt: nil, gap: gap)
        )
    }

    // MARK: Findings

    private mutating func report(
        _ kind: BookDifference.Kind,
        _ key: String,
        ours: String?,
        theirs: String?,
        _ happenedAt: Date?,
        _ isShownHere: Bool = true
    ) {
        guard isShownHere else { return }
        self.differences.append(
            BookDifference(kind: kind, key: key, ours: ours, theirs: theirs, happenedAt: happenedAt)
        )
    }

    private typealias Effect = (from: Int64, to: Int64)

    private mutating func explain(_ more: Effect, less: Int64 = 0) {
        self.explained.from += more.from - less
        self.explained.to += more.to - less
    }

    private mutating func explain(_ amount: Int64) { self.explain((amount, amount)) }

    /// What a transfer does to the balance there; one under way may have done it or not.
    private static func effect(of row: TheirBooks.Transfer) -> Effect {
        let amount = row.isOutgoing ? -row.amount : row.amount
        switch row.status {
        case .completed: return (amount, amount)
        case .open: return (min(0, amount), max(0, amount))
        case .failed, .reversed: return (0, 0)
        }
    }

    /// What a transfer did to the balance that we expect.
    private static func effect(of ours: OurBooks.Transfer) -> Int64 {
        guard ours.state == "completed" else { return 0 }
        return ours.isOutgoing ? -ours.amount : ours.amount
    }

    private static func text(_ ours: OurBooks.Transfer) -> String { "\(ours.state) \(ours.amount)" }

    private static func text(_ row: TheirBooks.Transfer) -> String { "\(row.status.rawValue) \(row.amount)" }
}
