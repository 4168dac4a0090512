import ArgumentParser
import Foundation

extension Report {
    /// The addresses from the environment; what is missing there ends the command.
    func endpoints() throws -> Endpoints {
        do {
            return try Endpoints(environment: ProcessInfo.processInfo.environment)
        } catch {
            self.failed(error)
            throw ExitCode.failure
        }
    }
}
