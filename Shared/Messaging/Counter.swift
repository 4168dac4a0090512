import Synchronization

/// A number that several tasks count.
final class Counter: Sendable {
    private let value: Atomic<Int>

    init(_ value: Int) { self.value = Atomic(value) }

    func increment() { self.value.wrappingAdd(1, ordering: .acquiringAndReleasing) }

    func decrementIfPositive() -> Bool {
        while true {
            let current = self.value.load(ordering: .acquiring)
            guard current > 0 else { return false }
            let (exchanged, _) = self.value.compareExchange(
                expected: current,
                desired: current - 1,
                ordering: .acquiringAndReleasing
            )
            if exchanged { return true }
        }
    }
}
