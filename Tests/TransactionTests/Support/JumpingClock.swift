import EventLoops
import Foundation
import Primitives

/// A clock on which time passes between any two looks at it.
final class JumpingClock: TimeSource {
    private let moment: Locked<Date>
    private let step: TimeInterval

    init(at moment: Date, step: TimeInterval) {
        self.moment = Locked<Date>(moment)
        self.step = step
    }

    var now: Date {
        self.moment.withLock { moment in
            defer { moment.addTimeInterval(self.step) }
            return moment
        }
    }
}
