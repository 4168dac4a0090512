/// What a handler decided about a batch of deliveries.
///
/// Rejected and requeued ones go first, one by one; then everything before `acknowledged` that is left is acknowledged
/// at once. Deliveries that none of the three names are given back: the channel is reopened after a pause and the
/// broker delivers them again, in order.
public struct BatchSettlement: Sendable, Equatable {
    /// How many deliveries, from the first, are done with.
    public var acknowledged: Int
    /// Indices of deliveries that are refused for good: they go to the dead-letter exchange, if there is one.
    public var rejected: [Int]
    /// Indices of deliveries that the broker shall deliver again.
    ///
    /// Breaks the order.
    public var requeued: [Int]

    /// Makes a settlement from a count and from indices into the batch.
    public init(acknowledged: Int, rejected: [Int] = [], requeued: [Int] = []) {
        self.acknowledged = acknowledged
        self.rejected = rejected
        self.requeued = requeued
    }

    /// Everything is done with.
    public static let acknowledgeAll = BatchSettlement(acknowledged: .max)
    /// Nothing is done with: deliver the whole batch again, in order, after a pause.
    public static let giveBack = BatchSettlement(acknowledged: 0)

    /// The last delivery of a batch of `count` that is acknowledged: done with, and not refused before; nil when none is.
    func lastAcknowledged(of count: Int) -> Int? {
        let refused = Set(self.rejected).union(self.requeued)
        return (0..<max(0, min(self.acknowledged, count))).last { !refused.contains($0) }
    }

    /// Whether every delivery of a batch of `count` is named.
    func covers(_ count: Int) -> Bool {
        guard self.acknowledged < count else { return true }
        let named = Set(self.rejected).union(self.requeued)
        return (max(0, self.acknowledged)..<count).allSatisfy(named.contains)
    }
}
