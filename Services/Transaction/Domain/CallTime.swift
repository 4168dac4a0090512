import Foundation

/// When a call was begun, before it was committed.
///
/// On two clocks: one stands still while a machine does, the other can be set.
struct CallTime: Sendable {
    private let steady = ContinuousClock.now
    private let wall: Date

    /// Begins now, which the wall's clock calls `wall`.
    init(wall: Date) {
        self.wall = wall
    }

    /// How much of the call's time is left.
    func left(of time: Duration, at wall: Date) -> Duration {
        time - max(self.steady.duration(to: .now), .seconds(wall.timeIntervalSince(self.wall)))
    }
}
