import Contracts
import Foundation
import Messaging
import Primitives
import ServiceKit
import ServiceTestSupport
import TestSupport
import Testing

@testable import NotificationService

@Suite("One's own data in notification", .serialized)
struct ExportTests {
    @Test("every table and column about people is given, or left out with a reason, and can be read")
    func declared() async throws {
        try await withNotification { world in
            #expect(try await Exports.notification.gaps(in: world.service) == [])
            let none = try await Exports.notification.all(
                of: UserID(UUID()),
                in: world.service,
                keys: InMemoryDataKeys()
            )
            #expect(none.isEmpty)
        }
    }

    @Test("the person gets what was told, and no secret of the phone")
    func given() async throws {
        try await withNotification { world in
            let (user, now) = (world.ada.uuid, Timestamp.text(world.clock.now))
            try await world.hear(PINChanged(userID: user, changeID: world.ids.next(), changedAt: now))
            let ready = UserExportReady(userID: user, exportID: world.ids.next(), expiresAt: now)
            try await world.hear(ready)
            let given = try await Exports.notification.all(of: world.ada, in: world.service)
            #expect(given["notifications"]?.map { $0["kind"]?.text } == ["pin.changed", "user.export_ready"])
            #expect(given["notifications"]?.last?["subject"]?.text == ready.exportID.lowercased)
            #expect(given["notifications"]?.allSatisfy { $0["category"]?.text == "security" } == true)
            #expect(given["inboxes"]?.count == 1)
        }
    }
}
