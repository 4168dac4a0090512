import OutgoingHTTP
import TestSupport
import Testing

@testable import ServiceKit

@Suite("clients of a service")
struct ServiceClientsTests {
    @Test("where nobody listens, the HTTP client says so at once")
    func refused() async throws {
        let http = ServiceClients.http(PrometheusRegistry())
        let call = HTTPCall(.get, "http://127.0.0.1:\(try freePort())/")
        let begin = ContinuousClock.now
        await #expect(throws: HTTPFailure(reason: .unreachable, isUnsent: true)) {
            try await http.send(call, within: .seconds(60), patience: .zero)
        }
        #expect(ContinuousClock.now - begin < .seconds(20))
        await http.shutdown()
    }
}
