/// Why a suite could not be prepared, started or stopped, as one sentence that a person can act on.
public struct SuiteError: Error, CustomStringConvertible, Equatable {
    /// The sentence; after it may stand the last lines of a log.
    public let description: String

    /// An error that says this.
    public init(_ description: String) { self.description = description }
}
