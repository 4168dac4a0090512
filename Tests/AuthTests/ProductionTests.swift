import ServiceKit
import ServiceTestSupport
import Testing

@testable import AuthService

@Suite("Settings of auth in production")
struct ProductionTests {
    @Test("every setting has a class, each weak value is refused by its name, and strong ones start")
    func settings() throws {
        #expect(try ProductionTrial(.auth).faults() == [])
    }
}
