extension String {
    /// Whether the text has so many code points, the unit in which JSON schemas count.
    ///
    /// What a person sees as one character may be thousands of them, so that `count` bounds nothing.
    public func hasCodePoints(_ bounds: ClosedRange<Int>) -> Bool {
        // One more tells enough, and a long text is not read to its end.
        bounds.contains(self.unicodeScalars.prefix(bounds.upperBound + 1).count)
    }
}
