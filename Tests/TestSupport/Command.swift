public import DevSuite
import Foundation

/// Short commands, such as psql and curl, with their output.
public enum Command {
    /// Runs a command to its end and returns what it wrote (stdout and stderr together).
    ///
    /// - Throws: `TestFailure` with the end of the output when the exit code is not 0 or the time is up.
    @discardableResult
    public static func run(
        _ command: String,
        _ arguments: [String] = [],
        environment: [String: String] = [:],
        within limit: Duration = .seconds(120)
    ) async throws -> String {
        try await Self.run(Launch(command, arguments, environment: environment), within: limit)
    }

    /// Runs to its end what was made elsewhere, and returns what it wrote.
    @discardableResult
    public static func run(_ launch: Launch, within limit: Duration = .seconds(120)) async throws -> String {
        let log = "\(Scratch.directory)/\(launch.name)-\(Scratch.shortName()).log"
        defer { try? FileManager.default.removeItem(atPath: log) }
        do {
            try await launch.measured.run(log: log, within: limit)
        } catch let error as SuiteError {
            throw TestFailure(error.description)
        }
        return String(decoding: FileManager.default.contents(atPath: log) ?? Data(), as: UTF8.self)
    }
}
