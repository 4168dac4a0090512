import Foundation

/// The Python of the tests, with the packages of `Tests/Python/requirements.txt`.
public enum TestPython {
    /// Its path, from the variable that `scripts/test` sets.
    public static func path() throws -> String {
        guard let path = ProcessInfo.processInfo.environment["TRANSFA_TEST_PYTHON"] else {
            throw TestFailure("TRANSFA_TEST_PYTHON is not set: run the tests with scripts/test, or see scripts/python")
        }
        return path
    }

    /// The path of one of the programs in `Tests/Python`.
    public static func program(_ name: String) -> String { Repository.path("Tests/Python/\(name)") }

    /// Runs one of the programs in `Tests/Python` to its end.
    ///
    /// - Returns: What it wrote.
    /// - Throws: `TestFailure` when it ends with an error.
    @discardableResult
    public static func run(_ name: String, _ arguments: [String] = []) async throws -> String {
        try await Command.run(try self.path(), [self.program(name)] + arguments)
    }
}
