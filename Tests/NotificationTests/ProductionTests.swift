import ServiceKit
import ServiceTestSupport
import Testing

@testable import NotificationService

@Suite("Settings of notification in production")
struct ProductionTests {
    @Test("every setting has a class, each weak value is refused by its name, and strong ones start")
    func settings() throws {
        #expect(try ProductionTrial(.notification).faults() == [])
    }
}
