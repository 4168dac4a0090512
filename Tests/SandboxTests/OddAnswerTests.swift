import AnchorClient
import Foundation
import Hummingbird
import Logging
import NIOCore
import OutgoingHTTP
import Primitives
import ServiceLifecycle
import Testing

/// A provider that answers every request with the same thing.
private func withAnswer(
    _ status: HTTPResponse.Status = .ok,
    _ body: ResponseBody,
    _ check: @Sendable @escaping (AnchorClient) async throws -> Void
) async throws {
    let router = Router()
    for path in ["api/v1/**", "api/v1/transfers"] {
        for method in [HTTPRequest.Method.get, .post] {
            router.on("\(path)", method: method) { _, _ in Response(status: status, body: body) }
        }
    }
    let (ports, announce) = AsyncStream<Int>.makeStream()
    var logger = Logger(label: "odd")
    logger.logLevel = .critical
    let server = Application(
        router: router,
        configuration: .init(address: .hostname("127.0.0.1", port: 0)),
        onServerRunning: { announce.yield($0.localAddress?.port ?? 0) },
        logger: logger
    )
    let services = ServiceGroup(configuration: .init(services: [server], logger: logger))
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await services.run() }
        let port = try #require(await ports.first { _ in true })
        let http = HTTPClient()
        let client = AnchorClient(baseURL: "http://127.0.0.1:\(port)/", apiKey: "k", http: http)
        let result: Result<Void, any Error>
        do { result = .success(try await check(client)) } catch { result = .failure(error) }
        await http.shutdown()
        await services.triggerGracefulShutdown()
        try await group.waitForAll()
        try result.get()
    }
}

private func text(_ text: String) -> ResponseBody { ResponseBody(byteBuffer: ByteBuffer(string: text)) }

@Suite("AnchorClient survives odd answers", .timeLimit(.minutes(1)))
struct OddAnswerTests {
    private static let order = TransferOrder(
        reference: "odd-1",
        amount: Money(kobo: 1000),
        sourceAccountID: "1-anc_acc",
        destination: .account(id: "2-anc_acc"),
        reason: "odd"
    )

    private static func failure(_ client: AnchorClient, deadline: Duration? = nil) async -> AnchorError? {
        do throws(AnchorError) {
            _ = try await client.createTransfer(Self.order, deadline: deadline)
            return nil
        } catch {
            return error
        }
    }

    @Test("an answer larger than the bound is malformed")
    func tooLarge() async throws {
        let size = AnchorClient.maximumAnswerBytes + 1
        try await withAnswer(.ok, ResponseBody(byteBuffer: ByteBuffer(repeating: 0x20, count: size))) { client in
            #expect(await Self.failure(client) == .malformed(what: "answer size"))
        }
    }

    @Test("the deadline includes the body of the answer")
    func slowBody() async throws {
        let body = ResponseBody { writer in
            try await writer.write(ByteBuffer(string: "{"))
            try await Task.sleep(for: .seconds(5))
            try await writer.finish(nil)
        }
        try await withAnswer(.ok, body) { client in
            #expect(await Self.failure(client, deadline: .milliseconds(200)) == .timedOut(sent: true))
        }
    }

    @Test(
        "a success that is no transfer, or another transfer, may have been sent",
        arguments: [
            "", "{}", "not JSON", "{\"message\":\"accepted\",\"responseCode\":\"00\"}",
            "{\"data\":{\"id\":\"1\",\"attributes\":{\"reference\":\"odd-1\",\"amount\":2000,\"status\":\"PENDING\"}}}",
            "{\"data\":{\"id\":\"1\",\"attributes\":{\"reference\":\"other\",\"amount\":1000,\"status\":\"PENDING\"}}}",
        ]
    )
    func malformed(_ body: String) async throws {
        try await withAnswer(.ok, text(body)) { client in
            let error = await Self.failure(client)
            #expect(error?.mayHaveBeenSent == true)
            guard case .malformed? = error else {
                Issue.record("the answer should be malformed")
                return
            }
        }
    }

    @Test("a question that is answered with another transfer is not answered, nor is the one asked for absent")
    func otherTransfer() async throws {
        let body = #"{"data":{"id":"1","attributes":{"reference":"other","amount":1000,"status":"FAILED"}}}"#
        try await withAnswer(.ok, text(body)) { client in
            let other = AnchorError.malformed(what: "transfer echo")
            await #expect(throws: other) { _ = try await client.transfer(reference: "odd-1") }
            await #expect(throws: other) { _ = try await client.transfer(id: "2-anc_trsf") }
            await #expect(throws: other) { _ = try await client.verifyTransfer(id: "2-anc_trsf") }
        }
        let customer = #"{"data":{"id":"1","attributes":{"verification":{"status":"approved"}}}}"#
        try await withAnswer(.ok, text(customer)) { client in
            let other = AnchorError.malformed(what: "customer echo")
            await #expect(throws: other) { _ = try await client.customer(id: "2-anc_ind_cst") }
        }
    }

    @Test(
        "a refusal that nobody can read proves nothing about an order",
        arguments: ["", "<html>Bad Request</html>", "{}", #"{"errors":[]}"#]
    )
    func unreadableRefusal(_ body: String) async throws {
        try await withAnswer(.badRequest, text(body)) { client in
            let error = await Self.failure(client)
            #expect(error == .refused(status: 400, title: "", code: .doubtful))
            #expect(error?.refusalProof == nil)
        }
    }

    @Test("unknown fields are ignored, every 2xx is a success, and an unknown status is still open")
    func unknownStatus() async throws {
        let body = """
            {"responseCode":"00","data":{"id":"1-anc_trsf","type":"BOOK_TRANSFER","new":1,"attributes":{"new":[],
            "reference":"odd-1","amount":1000,"status":"PENDING_REVIEW","createdAt":"2023-10-09T14:55:13"},
            "relationships":{"documents":{"data":[]},"account":{"data":null}}}}
            """
        try await withAnswer(.accepted, text(body)) { client in
            let snapshot = try await client.createTransfer(Self.order)
            #expect(snapshot.status == .open(other: "PENDING_REVIEW"))
            #expect(snapshot.status.isOpen)
            #expect(snapshot.rail == .book)
            #expect(snapshot.createdAt == Timestamp.parse("2023-10-09T14:55:13Z"))
        }
    }

    @Test(
        "both forms of a refusal are understood, and nothing of the words comes through",
        arguments: [
            "{\"message\":\"Customer with Email ada@example.test already exist\",\"responseCode\":\"11\"}",
            "{\"errors\":[{\"title\":\"Bad 08031234567\",\"status\":\"400\",\"detail\":\"ada@example.test already exist\"}]}",
        ]
    )
    func refusals(_ body: String) async throws {
        try await withAnswer(.badRequest, text(body)) { client in
            let error = await Self.failure(client)
            guard case .refused(400, let title, .alreadyExists)? = error else {
                Issue.record("the refusal should be understood")
                return
            }
            #expect(!title.contains("0803"))
            #expect(error?.description.contains("ada") == false)
        }
    }

    @Test("a redirect is not followed")
    func redirect() async throws {
        try await withAnswer(.temporaryRedirect, text("")) { client in
            #expect(await Self.failure(client) == .refused(status: 307, title: "", code: .doubtful))
        }
    }
}
