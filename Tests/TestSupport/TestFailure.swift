/// What went wrong in a test's surroundings, as one sentence that a person can act on.
public struct TestFailure: Error, CustomStringConvertible {
    /// The sentence.
    public let description: String

    /// A failure that says this.
    public init(_ description: String) {
        self.description = description
    }
}
