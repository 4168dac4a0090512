/// A setting that is missing or makes no sense: the start stops with one line that names it.
public struct ConfigurationProblem: Error, Sendable, Equatable, CustomStringConvertible {
    /// The environment variable.
    public let variable: String
    /// What is wrong, without the value: it may be a secret.
    public let reason: String

    /// The exit status for a configuration error (EX_CONFIG).
    public static let exitStatus: Int32 = 78

    /// Creates a problem.
    public init(variable: String, reason: String) {
        self.variable = variable
        self.reason = reason
    }

    /// `PORT: not a port number`.
    public var description: String { "\(self.variable): \(self.reason)" }
}

/// All settings that are too weak for production: the start stops with one line for each.
public struct ConfigurationProblems: Error, Sendable, Equatable, CustomStringConvertible {
    /// Which, in the order of the documentation.
    public let all: [ConfigurationProblem]

    /// Nil when there is none.
    init?(_ all: [ConfigurationProblem]) {
        guard !all.isEmpty else { return nil }
        self.all = all
    }

    /// A line for each.
    public var description: String { self.all.map(\.description).joined(separator: "\n") }
}
