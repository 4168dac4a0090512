import AnchorClient
import Foundation
import Messaging
import Primitives

/// Job: brings our books of one of the provider's accounts up to what it did since the moment a backup was made.
///
/// Every step may be repeated and done by two at once: a transfer is booked once per id of the provider, and settled as by
/// its messages. Nothing is sent.
struct RecoverAccount: Sendable {
    let database: EventDatabase
    let recoveries: RecoveryStore
    let books: ReconciliationStore
    let bills: BillStore
    let transfers: SubmissionStore
    let provider: any ProviderBooks
    /// Asked about transfers that are not listed.
    let questions: any TransferProvider
    let clock: any TimeSource

    /// Between two looks at an account that does not agree: something is under way, or a person has to look.
    static let lookAgain = Duration.seconds(20)
    /// The most transfers that one look asks about by reference.
    static let asked = 100
    /// How long one look asks by reference: a third of the time for which the job is leased.
    ///
    /// Those that should be listed get half of it: else a slow provider would never be asked about the older ones.
    static let askingTime = Duration.seconds(200)

    private static let open: Set<String> = ["accepted", "submitted", "unknown"]

    /// Runs the job, whose key is the provider's account.
    func callAsFunction(_ job: Job) async throws -> JobOutcome {
        guard let recovery = try await self.recoveries.open() else { return .cancelled(reason: "no_recovery") }
        let moment = self.clock.now
        guard let account = try await self.books.account(job.key) else {
            return try await self.unreadable(.cancelled(reason: "unknown_account"), job, recovery, moment)
        }
        let left: [BookDifference]
        do {
            left = try await self.recover(account, recovery, job.cause)
        } catch let error as AnchorError {
            return try await self.unreadable(JobOutcome(lookingFailed: error), job, recovery, moment)
        } catch is TooManyRows {
            return try await self.unreadable(.failed(reason: "too_many_rows"), job, recovery, moment)
        }
        try await self.database.transaction(cause: job.cause) { transaction in
            try await self.recoveries.note(left, of: account.name, recovery, lookedAt: moment, in: transaction)
        }
        guard left.isEmpty else { return .again(reason: "does_not_agree", after: Self.lookAgain) }
        let rest = recovery.isQuietFrom.timeIntervalSince(moment)
        return rest > 0 ? .again(reason: "calls_under_way", after: .seconds(rest + 1)) : .done
    }

    /// Says that the account cannot be looked at, unless it only takes another try.
    private func unreadable(
        _ outcome: JobOutcome,
        _ job: Job,
        _ recovery: Recovery,
        _ moment: Date
    ) async throws -> JobOutcome {
        switch outcome {
        case .failed(let reason), .cancelled(let reason):
            try await self.database.transaction(cause: job.cause) { transaction in
                try await self.recoveries.noteUnreadable(
                    job.key,
                    because: reason,
                    recovery,
                    lookedAt: moment,
                    in: transaction
                )
            }
        case .done, .again: break
        }
        return outcome
    }

    /// Makes good what can be, and says what keeps the recovery open.
    private func recover(
        _ account: ReconciliationStore.Account,
        _ recovery: Recovery,
        _ cause: Cause
    ) async throws -> [BookDifference] {
        let oldest = try await self.books.oldestDifference(of: account)
        let since = oldest.map { min($0, recovery.listedSince) } ?? recovery.listedSince
        var theirs = try await self.provider.read(account.name, since: since, billsSince: since)
        try await self.bills.book(theirs.bills, of: account.name, in: self.database, cause: cause)
        let before = try await self.ourBooks(of: account, since, theirs)
        try await self.settle(theirs, before, cause)
        try await self.bookForgotten(theirs, before, of: account.name, recovery, cause)
        CrashPoint.reach("after_forgotten")
        var differences = try await self.compare(account, since, theirs)
        let unlisted = try await self.ask(about: differences, of: account, since, recovery)
        if !unlisted.found.isEmpty {
            theirs.transfers += unlisted.found
            try await self.settle(theirs, try await self.ourBooks(of: account, since, theirs), cause)
            differences = try await self.compare(account, since, theirs)
        }
        // After what was found: a crash in between asks again.
        if let last = unlisted.oldest {
            try await self.database.transaction(cause: cause) { transaction in
                try await self.recoveries.noteAsked(last, of: account.name, recovery, in: transaction)
            }
        }
        return recovery.open(differences, theirs)
    }

    private func compare(
        _ account: ReconciliationStore.Account,
        _ since: Date,
        _ theirs: TheirBooks
    ) async throws -> [BookDifference] {
        let ours = try await self.ourBooks(of: account, since, theirs)
        let sources = Set(theirs.transfers.compactMap(\.source)).subtracting([account.name])
        return BookComparison.differences(
            of: theirs,
            from: ours,
            to: ours,
            reconciled: try await self.books.reconciled(sources)
        )
    }

    /// What the provider says of transfers that it has not listed: of those that should be in the list, and, while the
    /// balance differs, of those that are older, a part of them with each look.
    ///
    /// Only what is of the account: a reference alone is something that anybody may write.
    private func ask(
        about differences: [BookDifference],
        of account: ReconciliationStore.Account,
        _ since: Date,
        _ recovery: Recovery
    ) async throws -> (found: [TheirBooks.Transfer], oldest: UUID?) {
        let missing = Array(
            differences.filter { $0.kind == .missingThere }
                .compactMap { TransferReference.transaction(in: $0.key) }.prefix(Self.asked)
        )
        let differs = differences.contains { $0.kind == .balance }
        let older =
            differs
            ? try await self.recoveries.unasked(of: account, before: since, recovery, limit: Self.asked) : []
        var found: [TheirBooks.Transfer] = []
        var oldest: UUID?
        let begun = self.clock.now
        for (index, id) in (missing + older).enumerated() {
            let isOlder = index >= missing.count
            let spent = Duration.seconds(self.clock.now.timeIntervalSince(begun))
            guard spent < Self.askingTime else { break }
            guard isOlder || spent < Self.askingTime / 2 else { continue }
            let answer = try await self.questions.transfer(
                reference: TransferReference.text(of: id),
                deadline: SubmissionStore.callDeadline
            )
            if isOlder { oldest = id }
            guard let answer, [answer.sourceAccountID, answer.destinationAccountID].contains(account.name) else {
                continue
            }
            found.append(TheirBooks.Transfer(answer, isOutgoing: answer.sourceAccountID == account.name))
        }
        return (found, oldest)
    }

    private func ourBooks(
        of account: ReconciliationStore.Account,
        _ since: Date,
        _ theirs: TheirBooks
    ) async throws -> OurBooks {
        try await self.books.ourBooks(
            of: account,
            since: since,
            references: theirs.transfers.map(\.reference),
            payments: theirs.payments.map(\.id)
        )
    }

    /// Transfers that both know, and of which the provider knows more, whenever they were made.
    ///
    /// Only when they are the same transfer: a reference alone is something that anybody may write.
    private func settle(
        _ theirs: TheirBooks,
        _ ours: OurBooks,
        _ cause: Cause
    ) async throws {
        let known = Dictionary(ours.transfers.map { ($0.reference, $0) }) { first, _ in first }
        let news = theirs.transfers.compactMap { row -> (id: UUID, row: TheirBooks.Transfer)? in
            guard let transfer = known[row.reference], transfer.amount == row.amount,
                transfer.isOutgoing == row.isOutgoing, let id = TransferReference.transaction(in: row.reference),
                Self.open.contains(transfer.state) || transfer.state == "completed" && row.status == .reversed
            else { return nil }
            return (id, row)
        }
        guard !news.isEmpty else { return }
        try await self.database.transaction(cause: cause) { transaction in
            let inside = news.filter(\.row.isOutgoing).compactMap { news in
                news.row.destination.map { (news.id, $0) }
            }
            try await self.recoveries.followSwitches(inside, in: transaction)
            _ = try await self.transfers.settle(news.map { ($0.id, TransferVerdict($0.row)) }, in: transaction)
        }
    }

    /// What we do not know, each in a transaction of its own: its locks come after none of another's.
    private func bookForgotten(
        _ theirs: TheirBooks,
        _ ours: OurBooks,
        of account: String,
        _ recovery: Recovery,
        _ cause: Cause
    ) async throws {
        let known = Set(ours.transfers.map(\.reference))
        let ended = theirs.transfers.filter { $0.status != .open && recovery.covers($0) }
        for row in ended where !known.contains(row.reference) {
            guard let source = row.isOutgoing ? account : row.source else { continue }
            try await self.database.transaction(cause: cause) { transaction in
                try await self.recoveries.book(
                    row,
                    from: source,
                    to: row.isOutgoing ? row.destination : account,
                    madeAt: row.createdAt ?? recovery.begunAt,
                    in: transaction
                )
            }
        }
        for payment in theirs.payments where recovery.covers(payment) && !ours.has(payment) {
            try await self.database.transaction(cause: cause) { transaction in
                try await self.recoveries.book(payment, on: account, in: transaction)
            }
        }
    }
}

extension OurBooks {
    /// Whether a payment was taken, under either of the ids that the provider has for it.
    fileprivate func has(_ payment: TheirBooks.Payment) -> Bool {
        let number = BookComparison.number(payment.id)
        return self.payments.contains { BookComparison.number($0.id) == number }
    }
}

extension TransferVerdict {
    /// The provider lists the transfer.
    fileprivate init(_ row: TheirBooks.Transfer) {
        self.init(outcome: .open, evidence: "listed:\(row.id)", providerID: row.id)
        switch row.status {
        case .completed: self.outcome = .completed
        case .reversed: self.outcome = .reversed
        case .failed:
            self.outcome = .failed
            self.reason = "provider_failed"
        case .open: break
        }
    }
}
