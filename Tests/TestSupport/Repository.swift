import Foundation
import Glibc

/// Where things are.
public enum Repository {
    /// The root of the working tree.
    public static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

    /// The path of a file of the working tree.
    public static func path(_ relative: String) -> String {
        "\(self.root)/\(relative)"
    }

    /// The path of a product built together with the running tests, such as "auth".
    public static func product(_ name: String) throws -> String {
        let runner = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let path = URL(fileURLWithPath: runner).deletingLastPathComponent().appendingPathComponent(name).path
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw TestFailure("\(path) is not built: run swift build --build-tests")
        }
        return path
    }
}

/// Files of this run.
public enum Scratch {
    /// A folder of this process for logs and servers, removed by `scripts/test` with everything in it.
    public static let directory: String = {
        let environment = ProcessInfo.processInfo.environment
        let base = environment["TRANSFA_TEST_SCRATCH"] ?? NSTemporaryDirectory() + "/transfa-tests"
        let path = "\(base)/\(getpid())"
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }()

    /// Eight random characters for names of databases, vhosts and folders.
    public static func shortName() -> String {
        String((0..<8).map { _ in "abcdefghijklmnopqrstuvwxyz234567".randomElement() ?? "a" })
    }
}
