import Synchronization

/// Counts from several tasks.
final class Counter: Sendable {
    private let count = Atomic<Int>(0)

    /// 1 for the first time.
    func next() -> Int { self.count.add(1, ordering: .relaxed).newValue }
    var value: Int { self.count.load(ordering: .relaxed) }
}
