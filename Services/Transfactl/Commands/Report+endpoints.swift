import ArgumentParser
import Foundation

extension Report {
    /// The addresses from the environment; a bad one ends the command.
    func endpoints() throws -> Endpoints {
        do throws(Failure) {
            return try Endpoints(environment: ProcessInfo.processInfo.environment)
        } catch {
            self.failed(error)
            throw Exit.refused
        }
    }
}
