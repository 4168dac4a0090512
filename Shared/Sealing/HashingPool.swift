import EventLoops
import Foundation

/// A few threads of its own for work that takes tens of milliseconds, with a bound on what may wait.
///
/// The cooperative pool has one thread per core: such work there would stop every request of the process.
final class HashingPool: @unchecked Sendable {
    // Sendable: everything mutable is only touched while `condition` is locked.
    private struct Job {
        let ticket: UInt64
        let run: @Sendable () -> Void
        let refuse: @Sendable (SealingError) -> Void
    }

    private let condition = NSCondition()
    private let queueLimit: Int
    private var waiting: [Job] = []
    private var nextTicket: UInt64 = 0
    private var isStopping = false

    init(threads: Int, queueLimit: Int) {
        self.queueLimit = queueLimit
        for index in 0..<threads {
            SideThread.start(name: "pin-hash-\(index)") { self.work() }
        }
    }

    /// Ends the threads after what waits is done.
    func stop() {
        self.condition.withLock {
            self.isStopping = true
            self.condition.broadcast()
        }
    }

    /// Runs `body` on one of the threads.
    ///
    /// - Throws: `SealingError` with `busy` when too much waits already, `cancelled` when the caller was cancelled
    ///   before its turn; what has begun is finished.
    func run<Value: Sendable>(
        _ body: @escaping @Sendable () -> Result<Value, SealingError>
    ) async throws(SealingError) -> Value {
        let ticket = self.takeTicket()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Result<Value, SealingError>, Never>) in
                let refusal = self.enqueue(
                    Job(
                        ticket: ticket,
                        run: { continuation.resume(returning: body()) },
                        refuse: { continuation.resume(returning: .failure($0)) }
                    )
                )
                if let refusal { continuation.resume(returning: .failure(refusal)) }
            }
        } onCancel: {
            self.cancel(ticket)
        }
        return try result.get()
    }

    private func takeTicket() -> UInt64 {
        self.condition.withLock {
            self.nextTicket += 1
            return self.nextTicket
        }
    }

    private func enqueue(_ job: Job) -> SealingError? {
        if Task.isCancelled { return SealingError(.cancelled, "cancelled before hashing") }
        return self.condition.withLock {
            guard self.waiting.count < self.queueLimit else { return SealingError(.busy, "too many hashes wait") }
            self.waiting.append(job)
            self.condition.signal()
            return nil
        }
    }

    private func cancel(_ ticket: UInt64) {
        let job: Job? = self.condition.withLock {
            guard let index = self.waiting.firstIndex(where: { $0.ticket == ticket }) else { return nil }
            return self.waiting.remove(at: index)
        }
        job?.refuse(SealingError(.cancelled, "cancelled before hashing"))
    }

    private func work() {
        while let job = self.nextJob() { job.run() }
    }

    private func nextJob() -> Job? {
        self.condition.withLock {
            while self.waiting.isEmpty && !self.isStopping { self.condition.wait() }
            return self.waiting.isEmpty ? nil : self.waiting.removeFirst()
        }
    }
}
