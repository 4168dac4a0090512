// Whoever tests with processes needs the type of a process, and its members.
@_exported public import DevSuite
import Foundation

extension ChildProcess {
    /// Starts an executable with these variables; only PATH, HOME and the file of a coverage run are added.
    public convenience init(
        _ executable: String,
        _ arguments: [String] = [],
        environment: [String: String] = [:],
        log: String? = nil
    ) throws {
        let launch = Launch(executable, arguments, environment: environment).measured
        try self.init(launch, log: log ?? "\(Scratch.directory)/\(launch.name)-\(Scratch.shortName()).log")
    }
}

extension Launch {
    /// The same; in a coverage run every process needs a file of its own, and otherwise it writes none.
    var measured: Launch {
        let own = ProcessInfo.processInfo.environment
        let file =
            own["TRANSFA_TEST_PROFILES"].map { "\($0)/\(self.name)-%p.profraw" }
            ?? self.environment["LLVM_PROFILE_FILE"] ?? "/dev/null"
        let environment = self.environment.merging(["LLVM_PROFILE_FILE": file]) { $1 }
        return Launch(self.program, self.arguments, environment: environment)
    }
}
