import Foundation

/// A program with its arguments and exactly the variables that it sees; only PATH and HOME are added.
public struct Launch: Sendable, Equatable {
    /// A path, or a name that is looked for on the PATH.
    public let program: String
    /// Its arguments.
    public let arguments: [String]
    /// Its variables.
    public let environment: [String: String]

    /// Says what to start.
    public init(_ program: String, _ arguments: [String] = [], environment: [String: String] = [:]) {
        self.program = program
        self.arguments = arguments
        self.environment = environment
    }

    /// What people call the program.
    public var name: String { String(self.program.split(separator: "/").last ?? "") }

    /// Runs it to its end.
    ///
    /// - Parameters:
    ///   - log: Where it writes.
    ///   - limit: When it is ended, if it has not ended by itself.
    /// - Throws: `SuiteError` with the last lines of the log, unless it ends with 0 in time.
    public func run(log: String, within limit: Duration = .seconds(120)) async throws {
        let child = try ChildProcess(self, log: log)
        let exit = await withTaskGroup(of: Void.self) { group in
            group.addTask {
                guard (try? await Task.sleep(for: limit)) != nil else { return }
                await child.terminate(within: .seconds(2))
            }
            let exit = await child.exit()
            group.cancelAll()
            return exit
        }
        guard exit == .code(0) else {
            let words = ([self.name] + self.arguments.prefix(1)).joined(separator: " ")
            throw SuiteError("\(words) ended with \(exit): \(child.log.suffix(2000))")
        }
    }

    /// The command line.
    var words: [String] {
        (self.program.contains("/") ? [self.program] : ["/usr/bin/env", self.program]) + self.arguments
    }

    /// All variables.
    var variables: [String: String] {
        let own = ProcessInfo.processInfo.environment
        var all = self.environment
        for name in ["PATH", "HOME"] where all[name] == nil { all[name] = own[name] }
        return all
    }
}
