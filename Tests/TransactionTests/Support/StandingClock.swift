import EventLoops
import Foundation
import Primitives

/// A clock that moves when it is told to, and never by itself.
final class StandingClock: TimeSource {
    private let moment: Locked<Date>

    init(at moment: Date) { self.moment = Locked<Date>(moment) }

    var now: Date { self.moment.withLock { $0 } }

    func advance(by time: Duration) { self.moment.withLock { $0.addTimeInterval(time / .seconds(1)) } }
}
