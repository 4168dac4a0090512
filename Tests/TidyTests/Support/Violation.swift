import Testing

/// A place that breaks a rule.
struct Violation: CustomStringConvertible, Equatable {
    let path: String
    let line: Int
    let message: String

    var description: String {
        "\(self.path):\(self.line): \(self.message)"
    }
}

/// One rule about the repository.
struct Rule: Sendable, CustomTestStringConvertible {
    /// The rule, as a sentence.
    let name: String
    /// All places that break it.
    let violations: @Sendable (SourceTree) -> [Violation]

    var testDescription: String { self.name }
}
