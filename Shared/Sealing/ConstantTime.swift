/// Comparisons whose duration says nothing about where two secrets differ.
public enum ConstantTime {
    /// Whether both are the same bytes.
    ///
    /// Only the lengths may be told from the time it takes.
    @inline(never)
    public static func equal(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        var difference: UInt8 = 0
        for (one, other) in zip(left, right) { difference |= one ^ other }
        return difference == 0
    }

    /// Whether both are the same text in UTF-8.
    public static func equal(_ left: String, _ right: String) -> Bool {
        Self.equal(Array(left.utf8), Array(right.utf8))
    }
}
