import Foundation
import SandboxService

@main
enum Main {
    static func main() async throws {
        exit(try await SandboxExecutable.run(environment: ProcessInfo.processInfo.environment))
    }
}
