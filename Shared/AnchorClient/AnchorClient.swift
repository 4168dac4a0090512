public import AsyncHTTPClient
import Foundation
import HTTPReach
import NIOCore
import NIOHTTP1
import NIOPosix

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

extension AnchorClient {
    /// How the HTTP client should be set up for this provider: no redirects (they could send a transfer twice), and a
    /// connection that cannot be made fails at once instead of being tried until the deadline.
    public static var httpConfiguration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.timeout.connect = .seconds(2)
        configuration.connectionPool.retryConnectionEstablishment = false
        return configuration
    }
}

/// One request before it is sent.
struct AnchorRequest: Sendable {
    var method: HTTPMethod
    var path: String
    var body: Data?
    var contentType = "application/json"
    var idempotencyKey: String?

    static func get(_ path: String) -> AnchorRequest { AnchorRequest(method: .GET, path: path) }

    static func delete(_ path: String) -> AnchorRequest { AnchorRequest(method: .DELETE, path: path) }

    static func post(
        _ path: String,
        _ body: some Encodable,
        idempotencyKey: String? = nil
    ) throws(AnchorError) -> AnchorRequest {
        AnchorRequest(method: .POST, path: path, body: try Self.json(body), idempotencyKey: idempotencyKey)
    }

    static func put(_ path: String, _ body: some Encodable) throws(AnchorError) -> AnchorRequest {
        AnchorRequest(method: .PUT, path: path, body: try Self.json(body))
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
        let outgoing = self.outgoing(request)
        do {
            // The HTTP client's own deadline ends with the head of the answer; this one includes the body.
            return try await withThrowingTaskGroup(of: Data?.self) { group in
                group.addTask { try await self.exchange(outgoing, deadline: deadline) }
                group.addTask {
                    try await Task.sleep(for: deadline)
                    return nil
                }
                defer { group.cancelAll() }
                guard let first = try await group.next(), let body = first else {
                    throw AnchorError.timedOut(sent: true)
                }
                return body
            }
        } catch {
            throw AnchorError(transport: error)
        }
    }

    private func outgoing(_ request: AnchorRequest) -> HTTPClientRequest {
        var outgoing = HTTPClientRequest(url: self.baseURL + "/api/v1" + request.path)
        outgoing.method = request.method
        outgoing.headers.add(name: "x-anchor-key", value: self.apiKey)
        outgoing.headers.add(name: "accept", value: "application/json")
        if let key = request.idempotencyKey { outgoing.headers.add(name: "x-anchor-idempotent-key", value: key) }
        if let body = request.body {
            outgoing.headers.add(name: "content-type", value: request.contentType)
            outgoing.body = .bytes(ByteBuffer(bytes: body))
        }
        return outgoing
    }

    private func exchange(_ request: HTTPClientRequest, deadline: Duration) async throws -> Data {
        let response = try await self.http.reach(request, within: TimeAmount(deadline))
        let isSuccess = (200...299).contains(response.status.code)
        let body: ByteBuffer
        do {
            body = try await response.body.collect(upTo: Self.maximumAnswerBytes)
        } catch is NIOTooManyBytesError {
            throw isSuccess ? AnchorError.malformed(what: "answer size") : Self.refusal(response, Data())
        }
        let data = Data(body.readableBytesView)
        guard isSuccess else { throw Self.refusal(response, data) }
        return data
    }

    private static func refusal(_ response: HTTPClientResponse, _ body: Data) -> AnchorError {
        let status = Int(response.status.code)
        switch status {
        case 401, 403: return .unauthorised
        case 404: return .notFound
        case 408: return .timedOut(sent: true)
        case 429:
            let seconds = response.headers.first(name: "retry-after").flatMap { Int($0) }
            return .rateLimited(retryAfter: seconds.map { .seconds(min(max($0, 0), 3600)) })
        case 500...: return .unavailable(status: status)
        default:
            let said = RefusalBody.read(body)
            let code = AnchorRefusalCode(status: status, text: said.text)
            return .refused(status: status, title: said.title, code: code)
        }
    }
}

extension AnchorError {
    /// Maps what the HTTP client throws.
    ///
    /// What is not known to have stopped before sending counts as sent.
    init(transport error: any Error) {
        switch error {
        case let error as AnchorError: self = error
        case is CancellationError: self = .cancelled(sent: true)
        case is NIOConnectionError: self = .connectionLost(sent: false)
        // Refused can only come from connecting; other codes also end connections that carried a request.
        case let error as IOError where error.errnoCode == ECONNREFUSED: self = .connectionLost(sent: false)
        case let error as HTTPClientError: self = .init(client: error)
        default: self = .connectionLost(sent: true)
        }
    }

    private init(client error: HTTPClientError) {
        switch error {
        case .connectTimeout, .getConnectionFromPoolTimeout, .tlsHandshakeTimeout: self = .timedOut(sent: false)
        case .readTimeout, .writeTimeout, .deadlineExceeded: self = .timedOut(sent: true)
        case .cancelled: self = .cancelled(sent: true)
        case .invalidURL, .emptyHost, .emptyScheme, .alreadyShutdown: self = .connectionLost(sent: false)
        default: self = .connectionLost(sent: true)
        }
    }
}
