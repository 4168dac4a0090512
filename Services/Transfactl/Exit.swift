import ArgumentParser

/// How a command ends, the same in all of them.
enum Exit {
    /// The thing is not as it should be.
    static let wrong = ExitCode(1)
    /// It could not be done or not be found out: refused, unreachable, unreadable.
    static let refused = ExitCode(2)
    /// There is no such thing.
    static let notFound = ExitCode(4)
}
