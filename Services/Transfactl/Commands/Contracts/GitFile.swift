import Foundation

/// A file as it was committed.
enum GitFile {
    /// Reads a file of a commit, of the repository in the current folder.
    ///
    /// - Throws: `Failure` when there is no such ref or file, or no git.
    static func read(_ path: String, at ref: String) throws(Failure) -> Data {
        // An option in place of a ref would be obeyed by git.
        guard !ref.hasPrefix("-"), !ref.isEmpty else { throw Failure("\(ref) is neither a file nor a git ref.") }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["git", "show", "--end-of-options", "\(ref):\(path)"]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        do {
            try process.run()
        } catch {
            throw Failure("git could not be started: \(error.localizedDescription)")
        }
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure("\(ref) is neither a file nor a git ref that has \(path).")
        }
        return text
    }
}
