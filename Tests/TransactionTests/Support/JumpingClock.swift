import EventLoops
import Foundation
import Primitives

/// A clock that moves when it is told to, and by a step between any two looks at it; never with real time.
final class JumpingClock: TimeSource {
    private let moment: Locked<Date>
    private let step: TimeInterval

    init(at moment: Date, step: TimeInterval = 0) {
        self.moment = Locked<Date>(moment)
        self.step = step
    }

    var now: Date {
        self.moment.withLock { moment in
            defer { moment.addTimeInterval(self.step) }
            return moment
        }
    }

    func advance(by time: Duration) { self.moment.withLock { $0.addTimeInterval(time / .seconds(1)) } }
}
