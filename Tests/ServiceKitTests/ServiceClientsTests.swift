import AsyncHTTPClient
import NIOCore
import TestSupport
import Testing

@testable import ServiceKit

@Suite("clients of a service")
struct ServiceClientsTests {
    @Test("where nobody listens, the HTTP client says so at once")
    func refused() async throws {
        let http = ServiceClients.http()
        let request = HTTPClientRequest(url: "http://127.0.0.1:\(try freePort())/")
        let begin = ContinuousClock.now
        await #expect(throws: (any Error).self) { try await http.execute(request, timeout: .seconds(20)) }
        #expect(ContinuousClock.now - begin < .seconds(2))
        try await http.shutdown()
    }
}
