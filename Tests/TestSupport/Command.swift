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
        let words = command.contains("/") ? [command] + arguments : ["/usr/bin/env", command] + arguments
        let child = try ChildProcess(words[0], Array(words.dropFirst()), environment: environment)
        let exit = await withTaskGroup(of: Void.self) { group in
            group.addTask {
                guard (try? await Task.sleep(for: limit)) != nil else { return }
                await child.terminate(within: .seconds(2))
            }
            let exit = await child.exit()
            group.cancelAll()
            return exit
        }
        let output = child.log
        try? FileManager.default.removeItem(atPath: child.logPath)
        guard exit == .code(0) else {
            throw TestFailure("\(command) \(arguments.first ?? "") ended with \(exit): \(output.suffix(2000))")
        }
        return output
    }
}
