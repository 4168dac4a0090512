import EventLoops
import TestSupport
import Testing

@testable import Messaging

@Suite("Waking")
struct WakeSignalTests {
    @Test("a wake before the wait is not lost, whoever else waits")
    func wakeBeforeWait() async {
        let signal = WakeSignal()
        let seen = signal.generation
        signal.wake()
        let start = ContinuousClock.now
        await signal.wait(after: seen, upTo: .seconds(30))
        await signal.wait(after: seen, upTo: .seconds(30))
        #expect(ContinuousClock.now - start < .seconds(10))
    }

    @Test("20,000 pieces of work are all noticed, though each waiter would sleep for a minute")
    func noneLost() async throws {
        let signal = WakeSignal()
        let made = Locked(0)
        let start = ContinuousClock.now
        await withDiscardingTaskGroup { group in
            for _ in 0..<3 {
                group.addTask {
                    while true {
                        let seen = signal.generation
                        if made.withLock({ $0 }) == 20_000 { return }
                        await signal.wait(after: seen, upTo: .seconds(60))
                    }
                }
            }
            group.addTask {
                for number in 0..<20_000 {
                    made.withLock { $0 += 1 }
                    signal.wake()
                    if number % 7 == 0 { await Task.yield() }
                }
            }
        }
        #expect(ContinuousClock.now - start < .seconds(30))
    }

    @Test("a wait ends with its limit and with its task")
    func ends() async throws {
        let signal = WakeSignal()
        await signal.wait(after: signal.generation, upTo: .milliseconds(20))
        try await withThrowingDiscardingTaskGroup { group in
            let began = Locked(false)
            group.addTask {
                began.withLock { $0 = true }
                await signal.wait(after: signal.generation, upTo: .seconds(600))
            }
            try await eventually("the wait") { began.withLock { $0 } }
            group.cancelAll()
        }
        #expect(signal.generation == 0)
    }
}
