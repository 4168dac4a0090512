/// Chance that comes out the same for the same seed (SplitMix64).
struct SeededChance: Sendable {
    private var state: UInt64

    init(seed: UInt64) { self.state = seed }

    private mutating func next() -> UInt64 {
        self.state &+= 0x9e37_79b9_7f4a_7c15
        var word = self.state
        word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
        return word ^ (word >> 31)
    }

    /// A number below a bound.
    mutating func below(_ bound: Int) -> Int { Int(self.next() % UInt64(bound)) }

    /// Whether something of this many in a hundred happens.
    mutating func happens(_ percent: Int) -> Bool { self.below(100) < percent }

    /// An amount of kobo in a range.
    mutating func kobo(_ range: ClosedRange<Int64>) -> Int64 {
        range.lowerBound + Int64(self.below(Int(range.upperBound - range.lowerBound + 1)))
    }

    /// One of several; nil when there is none.
    mutating func one<Element>(of elements: [Element]) -> Element? {
        elements.isEmpty ? nil : elements[self.below(elements.count)]
    }
}
