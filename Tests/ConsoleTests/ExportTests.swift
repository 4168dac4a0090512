import Contracts
import Foundation
import Messaging
import Primitives
import ServiceKit
import ServiceTestSupport
import TestSupport
import Testing

@testable import ConsoleService

@Suite("One's own data in console", .serialized)
struct ExportTests {
    @Test("every table and column about people is given, or left out with a reason, and can be read")
    func declared() async throws {
        try await withConsole { world in
            #expect(try await Exports.console.gaps(in: world.service) == [])
            let none = try await Exports.console.all(of: UserID(UUID()), in: world.service, keys: InMemoryDataKeys())
            #expect(none.isEmpty)
        }
    }

    @Test("the person gets that something was told about them, and not what: the archive opens nothing")
    func given() async throws {
        try await withConsole { world in
            let events = try (0..<3).map { _ in try envelope(type: "user.created", subject: world.ada.description) }
            try await world.take(events + [try envelope()], epoch: try await world.takeOver().epoch)
            let given = try await Exports.console.all(of: world.ada, in: world.service)
            let rows = try #require(given["archived_events"])
            #expect(rows.count == 3 && rows.allSatisfy { Set($0.keys) == ["id", "time", "source", "type"] })
        }
    }
}
