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
    /// The same; in a coverage run every process needs a file of its own.
    var measured: Launch {
        guard let folder = ProcessInfo.processInfo.environment["TRANSFA_TEST_PROFILES"] else { return self }
        let file = ["LLVM_PROFILE_FILE": "\(folder)/\(self.name)-%p.profraw"]
        return Launch(self.program, self.arguments, environment: self.environment.merging(file) { $1 })
    }
}
