import Foundation
import Logging

/// What the executable does with its environment.
public enum SandboxExecutable {
    /// Runs the stand-in until a signal and returns the exit code: 78 for a bad environment, 0 otherwise.
    public static func run(environment: [String: String]) async throws -> Int32 {
        let configuration: SandboxConfiguration
        do {
            configuration = try SandboxConfiguration(environment: environment)
        } catch {
            try FileHandle.standardError.write(contentsOf: Data("sandbox: \(error)\n".utf8))
            return 78
        }
        LoggingSystem.bootstrap { StreamLogHandler.standardError(label: $0) }
        var logger = Logger(label: "sandbox")
        logger.logLevel = environment["LOG_LEVEL"].flatMap { Logger.Level(rawValue: $0) } ?? .notice
        let log = logger
        let application = try SandboxApplication(
            configuration: configuration,
            logger: logger,
            onListening: { port in log.notice("listening", metadata: ["port": "\(port)"]) },
            onListeningForPushes: { port in log.notice("listening for pushes", metadata: ["port": "\(port)"]) }
        )
        try await application.runUntilSignal()
        return 0
    }
}
