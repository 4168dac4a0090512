import Testing

@testable import ServiceKit

@Suite("what a request under a key does next")
struct IdempotencyMachineTests {
    private static let answer = StoredAnswer(requestHash: [1], status: 201, body: "{}")
    private static let hold = IdempotencyLease.Hold(names: IdempotencyLease.Names(lease: "l", copy: "c"), token: "a")

    @Test("a copy is given, a lease is used, and without Redis nobody waits")
    func first() {
        for (finding, step) in [
            (IdempotencyLease.Finding.answered(Self.answer), IdempotencyMachine.Step.replay(Self.answer, .repeatRedis)),
            (.mine(Self.hold), .run(holding: Self.hold)), (.unknown, .run(holding: nil)),
        ] {
            var machine = IdempotencyMachine()
            #expect(machine.next(finding) == step)
        }
    }

    @Test("who finds somebody running looks again at growing intervals, and in the end runs without a lease")
    func waiting() {
        var machine = IdempotencyMachine()
        var (waited, pauses) = (Duration.zero, [Duration]())
        while case .wait(let pause) = machine.next(.running) {
            waited += pause
            pauses.append(pause)
        }
        #expect(pauses.first == .milliseconds(20) && pauses.last == .milliseconds(100) && pauses == pauses.sorted())
        #expect((IdempotencyMachine.longestWait..<IdempotencyMachine.longestWait + .milliseconds(100)).contains(waited))
        #expect(machine.next(.running) == .run(holding: nil))
    }

    @Test("what comes while somebody waits ends the wait", arguments: 1...10)
    func interrupted(after looks: Int) {
        for (finding, step) in [
            (IdempotencyLease.Finding.answered(Self.answer), IdempotencyMachine.Step.replay(Self.answer, .waited)),
            (.mine(Self.hold), .run(holding: Self.hold)), (.unknown, .run(holding: nil)),
        ] {
            var machine = IdempotencyMachine()
            for _ in 0..<looks { _ = machine.next(.running) }
            #expect(machine.next(finding) == step)
        }
    }
}
