import AnchorClient
import Foundation
import Logging
import Messaging
import Primitives

/// Job: brings transfers to the provider and follows them to their end.
///
/// One job accompanies a transfer from acceptance until it has ended. Each run asks the ledger what is to be done; what
/// the ledger committed as a call is made, and its answer applied. Between runs a message of the provider may end the
/// transfer; then the next run finds nothing to do. So no message is needed, they only make it faster.
struct SubmitTransfers: Sendable {
    let database: EventDatabase
    let store: SubmissionStore
    let provider: any TransferProvider
    let clock: any TimeSource
    let logger: Logger
    /// Bounds how much of what is asked of the provider is asked again.
    let repeats: AnchorRepeats

    /// What became of one call or query.
    private struct Answer: Sendable {
        let step: SubmissionStep
        let verdict: TransferVerdict?
        let outcome: JobOutcome
        let call: (reference: String, attempt: Int32, outcome: String)?
        /// What the provider said when it was asked, in a word.
        var said: String?
        /// The transfer that `verdict` and `said` are about.
        var subject: UUID

        init(
            step: SubmissionStep,
            verdict: TransferVerdict?,
            outcome: JobOutcome,
            call: (reference: String, attempt: Int32, outcome: String)?,
            said: String? = nil,
            about subject: UUID? = nil
        ) {
            self.step = step
            self.verdict = verdict
            self.outcome = outcome
            self.call = call
            self.said = said
            self.subject = subject ?? step.transaction
        }
    }

    private static let answered = "answered"
    private static let noAnswer = "no_answer"
    private static let unsent = "unsent"
    /// A call with less time than this is not begun.
    private static let leastTime = Duration.seconds(1)
    private static let staleRetry = Duration.seconds(5)
    private static let recoveryRetry = Duration.seconds(10)
    private static let firstFollowUp = Duration.seconds(20)

    /// Runs a batch of jobs, whose keys are ids of transfers.
    ///
    /// Run again one by one, nothing is sent twice: what was committed as a call is `submitted`, and only asked about.
    func callAsFunction(_ jobs: [Job]) async throws -> [JobOutcome] {
        do {
            return try await self.run(jobs)
        } catch {
            self.logger.warning("submission repeated", metadata: ["error": "\(type(of: error))"])
            throw error
        }
    }

    private func run(_ jobs: [Job]) async throws -> [JobOutcome] {
        guard await self.provider.isAvailable else {
            return jobs.map { _ in .providerUnavailable }
        }
        let ids = jobs.compactMap { UUID(text: $0.key) }
        precondition(ids.count == jobs.count, "the key of a submission is the id of a transfer")
        let begun = CallTime(wall: self.clock.now)
        let steps = try await self.database.transaction(cause: Cause(causationID: jobs[0].id)) { transaction in
            try await self.store.begin(ids, in: transaction)
        }
        CrashPoint.reach("before_provider_call")
        let runs = Dictionary(zip(ids, jobs)) { first, _ in first }
        let answers = await self.perform(steps, runs, begun)
        CrashPoint.reach("after_provider_answer")
        let spoilt = try await self.apply(answers)
        let applied = answers.filter { spoilt[$0.step.transaction] == nil }
        try await self.noteAbsent(applied)
        let absent = applied.filter { $0.verdict == nil && $0.step.verdict == .query }.map(\.step.transaction)
        let resent = absent.isEmpty ? [:] : try await self.handleAbsence(absent, runs)
        let standing = applied.filter { $0.step.verdict == .ask && $0.verdict?.outcome == .completed }
            .map(\.step.transaction)
        let sent = standing.isEmpty ? [:] : try await self.sendReleases(standing, runs)
        return answers.map { answer in
            let id = answer.step.transaction
            return spoilt[id] ?? resent[id] ?? sent[id] ?? answer.outcome
        }
    }

    // MARK: Calls

    private func perform(_ steps: [SubmissionStep], _ runs: [UUID: Job], _ begun: CallTime) async -> [Answer] {
        await withTaskGroup(of: (Int, Answer).self) { group in
            for (index, step) in steps.enumerated() {
                group.addTask { (index, await self.perform(step, begun, tracing: runs[step.transaction])) }
            }
            var answers = [Answer?](repeating: nil, count: steps.count)
            for await (index, answer) in group { answers[index] = answer }
            return answers.compactMap { $0 }
        }
    }

    private func perform(_ step: SubmissionStep, _ begun: CallTime, tracing job: Job?) async -> Answer {
        let start = ContinuousClock.now
        let answer = await self.perform(step, begun)
        if let job, let reference = step.reference {
            let took = start.duration(to: .now)
            if let call = answer.call {
                let failure = call.outcome == Self.answered ? nil : call.outcome
                self.database.trace(call: "create_transfer", reference, of: job, took: took, failure: failure)
            } else if let said = answer.said {
                let failure = said == Self.noAnswer ? said : nil
                self.database.trace(call: "find_transfer", reference, of: job, took: took, failure: failure)
            }
        }
        return answer
    }

    private func perform(_ step: SubmissionStep, _ begun: CallTime) async -> Answer {
        switch step.verdict {
        case .send: await self.send(step, begun)
        case .query where !self.repeats.take():
            Answer(step: step, verdict: .noNews, outcome: .tooManyRepeats, call: nil)
        case .query: await self.query(step)
        case .ask: await self.ask(step)
        case .doubt: await self.query(step, again: Self.recoveryRetry)
        case .recovering: self.wait(step, "recovering", Self.recoveryRetry)
        case .stale: self.wait(step, "read_model_stale", Self.staleRetry)
        case .wait: self.wait(step, "absence_too_young", self.pause(until: step.notBefore))
        case .failed, .ended: Answer(step: step, verdict: nil, outcome: .done, call: nil)
        case .missing: Answer(step: step, verdict: nil, outcome: .failed(reason: "no_such_transfer"), call: nil)
        }
    }

    private func wait(_ step: SubmissionStep, _ reason: String, _ pause: Duration) -> Answer {
        Answer(step: step, verdict: nil, outcome: .again(reason: reason, after: pause), call: nil)
    }

    private func send(_ step: SubmissionStep, _ begun: CallTime) async -> Answer {
        guard let order = TransferOrder(step), let attempt = step.attempt else {
            return Answer(step: step, verdict: nil, outcome: .failed(reason: "malformed_step"), call: nil)
        }
        // The call has to be over at the deadline that was committed: after it an absence counts.
        let time = begun.left(of: SubmissionStore.callDeadline, at: self.clock.now)
        guard time >= Self.leastTime else {
            return Answer(
                step: step,
                verdict: nil,
                outcome: .again(reason: "not_sent_in_time", after: Self.firstFollowUp),
                call: (order.reference, attempt, Self.unsent)
            )
        }
        let verdict: TransferVerdict
        let outcome: String
        // What is sent again is no first call: it would earn more of its own kind.
        if attempt == 1 { self.repeats.noteFirst() }
        do {
            let snapshot = try await self.provider.createTransfer(order, deadline: time)
            CrashPoint.reach("after_sending")
            verdict = TransferVerdict(snapshot, from: "answer")
            outcome = Self.answered
        } catch {
            verdict = TransferVerdict(error, attempt: attempt)
            outcome = Self.end(of: error)
        }
        let ended = verdict.outcome == .completed || verdict.outcome == .failed || verdict.outcome == .reversed
        return Answer(
            step: step,
            verdict: verdict,
            outcome: ended ? .done : .again(reason: "not_decided", after: Self.firstFollowUp),
            call: (order.reference, attempt, outcome)
        )
    }

    /// How a call ended, in the words of `may_arrive()` and `was_refused()`.
    private static func end(of error: AnchorError) -> String {
        if error.refusalProof != nil { return "refused" }
        return error.neverLeft ? Self.unsent : "lost"
    }

    private func query(_ step: SubmissionStep, again pause: Duration? = nil) async -> Answer {
        let again = JobOutcome.again(reason: "not_decided", after: pause)
        guard let reference = step.reference else {
            return Answer(step: step, verdict: nil, outcome: .failed(reason: "malformed_step"), call: nil)
        }
        do {
            guard
                let found = try await self.provider.transfer(
                    reference: reference,
                    deadline: SubmissionStore.callDeadline
                )
            else { return Answer(step: step, verdict: nil, outcome: again, call: nil, said: "not_found") }
            var verdict = TransferVerdict(found, from: "query")
            if step.verdict == .doubt { verdict.destination = found.destinationAccountID }
            let outcome = verdict.outcome == .open ? again : .done
            return Answer(step: step, verdict: verdict, outcome: outcome, call: nil, said: found.status.word)
        } catch {
            // No answer to a question changes nothing; it must not look like an absence either.
            return Answer(step: step, verdict: .noNews, outcome: again, call: nil, said: Self.noAnswer)
        }
    }

    /// Asks about the payment whose money the step is to move out of suspense.
    ///
    /// Unless it stands, nothing is sent: what the provider has taken back ends the order, and what is unclear waits.
    private func ask(_ step: SubmissionStep) async -> Answer {
        guard let payment = step.payment else {
            return Answer(step: step, verdict: nil, outcome: .failed(reason: "malformed_step"), call: nil)
        }
        let answer = await self.query(step)
        return Answer(
            step: step,
            verdict: answer.verdict ?? .noNews,
            outcome: .again(reason: "payment_not_confirmed", after: nil),
            call: nil,
            said: answer.said,
            about: payment
        )
    }

    // MARK: Answers

    /// Applies answers, each by itself when one cannot be applied; how that ends for those that cannot.
    ///
    /// Such a transfer is asked about by its reference, as one whose answer was lost.
    private func apply(_ answers: [Answer]) async throws -> [UUID: JobOutcome] {
        do {
            try await self.write(answers)
            return [:]
        } catch {
            if JobIsolation.isPassing(error) { throw error }
        }
        var spoilt: [UUID: JobOutcome] = [:]
        for answer in answers {
            do {
                try await self.write([answer])
            } catch {
                spoilt[answer.step.transaction] = .repeated(because: error)
            }
        }
        return spoilt
    }

    private func write(_ answers: [Answer]) async throws {
        let verdicts = answers.compactMap { answer in
            answer.verdict.flatMap { $0 == .noNews ? nil : (answer.subject, $0) }
        }
        let said = answers.compactMap { answer in answer.said.map { (answer.subject, $0) } }
        let calls = answers.compactMap(\.call)
        guard !verdicts.isEmpty || !said.isEmpty || !calls.isEmpty else { return }
        try await self.repeatedly {
            try await self.database.transaction(cause: Cause()) { transaction in
                _ = try await self.store.settle(verdicts, in: transaction)
                try await self.store.finish(calls, in: transaction)
                try await self.store.keep(said, in: transaction)
            }
        }
    }

    /// What the provider has none of was not sent, once that has been so for long enough.
    private func noteAbsent(_ answers: [Answer]) async throws {
        let absent = answers.filter { $0.verdict == nil && $0.step.verdict == .doubt }.map(\.step.transaction)
        guard !absent.isEmpty else { return }
        try await self.database.transaction(cause: Cause()) { transaction in
            try await self.store.noteAbsent(absent, in: transaction)
        }
    }

    /// What is absent and not sent again, by the word of `record_absence()`.
    private static let failures = [
        "refused": TransferVerdict.refusedAndAbsent, "not_covered": TransferVerdict.absentAndNotCovered,
    ]

    /// An absence counts only when it is old enough; then the order is sent again, or has failed if it is not to be.
    private func handleAbsence(_ ids: [UUID], _ runs: [UUID: Job]) async throws -> [UUID: JobOutcome] {
        let absences = try await self.database.transaction(cause: Cause()) { transaction in
            let absences = try await self.store.recordAbsence(ids, in: transaction)
            // Under the same lock: nobody has heard otherwise since.
            let failed = absences.compactMap { absence in
                Self.failures[absence.verdict].map { (id: absence.id, verdict: $0) }
            }
            _ = try await self.store.settle(failed, in: transaction)
            return absences
        }
        var outcomes: [UUID: JobOutcome] = [:]
        for absence in absences where absence.verdict != "resend" {
            outcomes[absence.id] =
                absence.verdict == "wait"
                ? .again(reason: "absence_too_young", after: self.pause(until: absence.notBefore)) : .done
        }
        let resend = absences.filter { $0.verdict == "resend" }.map(\.id)
        guard !resend.isEmpty else { return outcomes }
        let begun = CallTime(wall: self.clock.now)
        let steps = try await self.database.transaction(cause: Cause()) { transaction in
            try await self.store.beginAgain(resend, in: transaction)
        }
        return outcomes.merging(try await self.carryOut(steps, runs, begun)) { _, sent in sent }
    }

    /// Orders out of suspense whose payments stand are sent.
    private func sendReleases(_ ids: [UUID], _ runs: [UUID: Job]) async throws -> [UUID: JobOutcome] {
        let begun = CallTime(wall: self.clock.now)
        let steps = try await self.database.transaction(cause: Cause()) { transaction in
            try await self.store.begin(ids, in: transaction)
        }
        return try await self.carryOut(steps, runs, begun)
    }

    private func carryOut(
        _ steps: [SubmissionStep],
        _ runs: [UUID: Job],
        _ begun: CallTime
    ) async throws -> [UUID: JobOutcome] {
        let answers = await self.perform(steps, runs, begun)
        let spoilt = try await self.apply(answers)
        return Dictionary(
            answers.map { ($0.step.transaction, spoilt[$0.step.transaction] ?? $0.outcome) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    private func pause(until moment: Date?) -> Duration {
        guard let moment else { return Self.firstFollowUp }
        return .seconds(max(1, moment.timeIntervalSince(self.clock.now)))
    }

    /// The answers of calls that were made must not be lost to a hiccup of the database.
    private func repeatedly(_ body: () async throws -> Void) async throws {
        var backoff = Backoff()
        for attempt in 1... {
            do {
                return try await body()
            } catch  where attempt < (JobIsolation.isPassing(error) ? 10 : 3) {
                try await Task.sleep(for: backoff.next())
            }
        }
    }
}

extension TransferOrder {
    /// The order a step describes; nil when the ledger left something out.
    init?(_ step: SubmissionStep) {
        guard let reference = step.reference, let source = step.sourceAccount, let destination = step.destination,
            let amount = step.amount, let kind = step.kind
        else { return nil }
        self.init(
            reference: reference,
            amount: Money(kobo: amount),
            sourceAccountID: source,
            destination: kind == "NIPTransfer" ? .counterparty(id: destination) : .account(id: destination),
            // What people wrote stays with us: the bank's statement shows our name.
            reason: "Transfa payment"
        )
    }
}
