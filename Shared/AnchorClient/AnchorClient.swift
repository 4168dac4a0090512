import Foundation
public import OutgoingHTTP

/// The provider's HTTP API.
///
/// Every call ends by its deadline, reads a bounded answer and is sent at most once: retrying, and asking by reference
/// before retrying, is the caller's.
public struct AnchorClient: Sendable {
    /// The most bytes of an answer that are read.
    public static let maximumAnswerBytes = 4 * 1024 * 1024

    let baseURL: String
    let apiKey: String
    let http: HTTPClient
    let deadline: Duration
    let circuit: AnchorCircuit?

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - baseURL: Scheme, host and port, such as `https://api.getanchor.co`; a trailing slash is ignored.
    ///   - apiKey: Sent as `x-anchor-key`.
    ///   - http: The connections; its life is the caller's.
    ///   - deadline: The time a call may take when it names none, the answer's body included.
    ///   - circuit: Shared with other clients of the same provider, or nil for none.
    public init(
        baseURL: String,
        apiKey: String,
        http: HTTPClient,
        deadline: Duration = .seconds(10),
        circuit: AnchorCircuit? = nil
    ) {
        self.baseURL = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
        self.apiKey = apiKey
        self.http = http
        self.deadline = deadline
        self.circuit = circuit
    }
}

/// One request before it is sent.
struct AnchorRequest: Sendable {
    var method: HTTPMethod
    var path: String
    var body: Data?
    var contentType = "application/json"
    var idempotencyKey: String?

    static func get(_ path: String) -> AnchorRequest { AnchorRequest(method: .get, path: path) }

    static func delete(_ path: String) -> AnchorRequest { AnchorRequest(method: .delete, path: path) }

    static func post(
        _ path: String,
        _ body: some Encodable,
        idempotencyKey: String? = nil
    ) throws(AnchorError) -> AnchorRequest {
        AnchorRequest(method: .post, path: path, body: try Self.json(body), idempotencyKey: idempotencyKey)
    }

    static func put(_ path: String, _ body: some Encodable) throws(AnchorError) -> AnchorRequest {
        AnchorRequest(method: .put, path: path, body: try Self.json(body))
    }

    private static func json(_ body: some Encodable) throws(AnchorError) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(body) else { throw AnchorError.malformed(what: "request") }
        return data
    }
}

extension AnchorClient {
    /// Sends and decodes a 2xx answer.
    func call<Answer: Decodable>(
        _ request: AnchorRequest,
        _ what: String,
        deadline: Duration?,
        as answer: Answer.Type = Answer.self
    ) async throws(AnchorError) -> Answer {
        let body = try await self.guarded(request, deadline: deadline)
        do {
            return try JSONDecoder().decode(answer, from: body)
        } catch {
            // The decoder's error quotes the answer: only its name may leave.
            throw AnchorError.malformed(what: what)
        }
    }

    /// Sends and ignores the body of a 2xx answer.
    func call(_ request: AnchorRequest, deadline: Duration?) async throws(AnchorError) {
        _ = try await self.guarded(request, deadline: deadline)
    }

    private func guarded(_ request: AnchorRequest, deadline: Duration?) async throws(AnchorError) -> Data {
        guard let circuit = self.circuit else {
            return try await self.send(request, deadline: deadline ?? self.deadline)
        }
        return try await circuit.run { () async throws(AnchorError) -> Data in
            try await self.send(request, deadline: deadline ?? self.deadline)
        }
    }

    private func send(_ request: AnchorRequest, deadline: Duration) async throws(AnchorError) -> Data {
        let answer: HTTPAnswer
        do throws(HTTPFailure) {
            answer = try await self.http.send(self.outgoing(request), within: deadline)
        } catch {
            throw AnchorError(error)
        }
        guard answer.isSuccess else {
            // Only orders to move money have such a key.
            let movesMoney = request.idempotencyKey != nil
            throw Self.refusal(answer.status, answer.retryAfter, Data(answer.body), movesMoney: movesMoney)
        }
        return Data(answer.body)
    }

    private func outgoing(_ request: AnchorRequest) -> HTTPCall {
        var call = HTTPCall(
            request.method,
            self.baseURL + "/api/v1" + request.path,
            headers: [("x-anchor-key", self.apiKey), ("accept", "application/json")],
            longestAnswer: Self.maximumAnswerBytes
        )
        if let key = request.idempotencyKey { call.headers.append(("x-anchor-idempotent-key", key)) }
        if let body = request.body {
            call.headers.append(("content-type", request.contentType))
            call.body = Array(body)
        }
        return call
    }

    fileprivate static func refusal(
        _ status: Int,
        _ retryAfter: Int64?,
        _ body: Data,
        movesMoney: Bool
    ) -> AnchorError {
        switch status {
        case 401, 403: return .unauthorised
        case 404: return .notFound
        case 408: return .timedOut(sent: true)
        case 429: return .rateLimited(retryAfter: retryAfter.map { .seconds(min(max($0, 0), 3600)) })
        case 500...: return .unavailable(status: status)
        default:
            let said = RefusalBody.read(body)
            let code = AnchorRefusalCode(status: status, text: said.text, movesMoney: movesMoney)
            return .refused(status: status, title: said.title, code: code)
        }
    }
}

extension AnchorError {
    /// What a lost call means.
    ///
    /// What is not known to have stopped before sending counts as sent.
    init(_ failure: HTTPFailure) {
        switch (failure.reason, failure.status) {
        case (.timedOut, _): self = .timedOut(sent: !failure.isUnsent)
        case (.cancelled, _): self = .cancelled(sent: !failure.isUnsent)
        case (.answerTooLong, let status?) where !(200..<300).contains(status):
            // Nobody has read what it says: it proves nothing.
            self = AnchorClient.refusal(status, failure.retryAfter, Data(), movesMoney: true)
        case (.answerTooLong, _): self = .malformed(what: "answer size")
        default: self = .connectionLost(sent: !failure.isUnsent)
        }
    }
}
