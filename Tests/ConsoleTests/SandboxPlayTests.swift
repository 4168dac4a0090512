import HTTPTypes
import Hummingbird
import NIOCore
import NIOEmbedded
import OutgoingHTTP
import Primitives
import TestSupport
import Testing

@testable import ConsoleService
@testable import ServiceKit

@Suite("People who try the API out")
struct SandboxPlayTests {
    /// With a sandbox that nobody has started.
    private func post(_ path: String, _ body: String) async throws -> HTTPResponse.Status {
        let router = Router(context: AppRequestContext.self)
        let sandbox = SandboxClient(address: "http://127.0.0.1:1", http: HTTPClient(), clock: SystemClock())
        SandboxController(sandbox: sandbox).add(to: router.group())
        let source = ApplicationRequestContextSource(channel: NIOAsyncTestingChannel(), logger: quiet)
        let head = HTTPRequest(method: .post, scheme: nil, authority: nil, path: path)
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer(string: body)))
        do {
            return try await router.buildResponder().respond(to: request, context: .init(source: source)).status
        } catch let error as APIError {
            return error.status
        }
    }

    @Test("only invented people are signed in, only account numbers get money, and only so much")
    func refusals() async throws {
        for subject in ["user_ada", "user_docs_", "user_docs_A", "user_docs_a/../b", ""] {
            #expect(
                try await self.post("/docs/sandbox/tokens", #"{"subject":"\#(subject)"}"#) == .badRequest,
                "\(subject)"
            )
        }
        for (number, amount) in [("900000000", 1), ("../../reset", 1), ("9000000001", 0), ("9000000001", 100_000_001)] {
            let body = #"{"account_number":"\#(number)","amount":\#(amount)}"#
            #expect(try await self.post("/docs/sandbox/money", body) == .badRequest, "\(body)")
        }
    }

    @Test("a sandbox that is away is told from a wrong request")
    func away() async throws {
        #expect(try await self.post("/docs/sandbox/tokens", #"{"subject":"user_docs_a"}"#) == .serviceUnavailable)
        let money = #"{"account_number":"9000000001","amount":1}"#
        #expect(try await self.post("/docs/sandbox/money", money) == .serviceUnavailable)
    }

    @Test("a sandbox in production stops the start, with the setting's name")
    func production() throws {
        let reader = SettingsReader(["SANDBOX_URL": "http://sandbox:8080/"])
        let sandbox = try ConsoleConfiguration(reader, profile: .sandbox, ownToken: "t").sandbox
        #expect(sandbox == "http://sandbox:8080")
        #expect {
            try ConsoleConfiguration(reader, profile: .production, ownToken: "t")
        } throws: { ($0 as? ConfigurationProblem)?.variable == "SANDBOX_URL" }
        #expect(try ConsoleConfiguration(SettingsReader([:]), profile: .production, ownToken: "t").sandbox == nil)
    }
}
