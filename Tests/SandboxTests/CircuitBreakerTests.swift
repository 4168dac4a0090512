import AnchorClient
import Foundation
import Testing

@Suite("The circuit breaker is a state machine")
struct CircuitBreakerTests {
    private let start = Date(timeIntervalSince1970: 1_700_000_000)

    private func opened() -> CircuitBreaker {
        var breaker = CircuitBreaker(.init(failures: 3, openFor: .seconds(10)))
        for _ in 0..<3 {
            let isPermitted = breaker.permits(at: self.start)
            #expect(isPermitted)
            breaker.report(.unavailable, at: self.start)
        }
        return breaker
    }

    @Test("an answer between failures starts the count again")
    func resets() {
        var breaker = CircuitBreaker(.init(failures: 2, openFor: .seconds(10)))
        for outcome in [CircuitBreaker.Outcome.unavailable, .answered, .unavailable, .unknown] {
            breaker.report(outcome, at: self.start)
        }
        #expect(breaker.state == .closed(failures: 1))
    }

    @Test("an open circuit lets one probe through after its time")
    func probe() {
        var breaker = self.opened()
        let answers = [9.0, 10, 10].map { breaker.permits(at: self.start.addingTimeInterval($0)) }
        #expect(answers == [false, true, false])
        breaker.report(.answered, at: self.start.addingTimeInterval(11))
        #expect(breaker.state == .closed(failures: 0))
    }

    @Test("a failed probe opens the circuit again")
    func failedProbe() {
        var breaker = self.opened()
        let later = self.start.addingTimeInterval(10)
        let isPermitted = breaker.permits(at: later)
        #expect(isPermitted)
        breaker.report(.unavailable, at: later)
        #expect(breaker.state == .open(until: later.addingTimeInterval(10)))
    }

    @Test("a probe that never reports gives way to another")
    func lostProbe() {
        var breaker = self.opened()
        let answers = [10.0, 19, 20].map { breaker.permits(at: self.start.addingTimeInterval($0)) }
        #expect(answers == [true, false, true])
    }

    @Test("a call that began before the opening changes nothing")
    func lateReport() {
        var breaker = self.opened()
        let state = breaker.state
        breaker.report(.answered, at: self.start.addingTimeInterval(1))
        #expect(breaker.state == state)
    }
}
