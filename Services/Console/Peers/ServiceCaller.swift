import AsyncHTTPClient
import Contracts
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1

/// A call to the internal port of a service.
struct InternalCall: Sendable {
    var method: HTTPRequest.Method = .get
    /// Path and query.
    var path: String
    var body: [UInt8] = []
    /// In whose name, for what is written into the audit.
    var operatorName: String?
    /// The request it is part of.
    var requestID: String?
    var traceparent: String?
}

/// What a service has answered.
struct InternalAnswer: Sendable {
    let status: Int
    let contentType: String?
    let body: [UInt8]
}

/// The internal ports of all services.
protocol InternalPorts: Sendable {
    /// Calls a service.
    ///
    /// - Throws: `ServiceUnreachable`.
    func call(_ service: ServiceName, _ call: InternalCall) async throws -> InternalAnswer
}

/// A service has no address, or does not answer.
struct ServiceUnreachable: Error {
    let service: ServiceName
}

/// Calls services with the suite's internal token, which never leaves this process.
struct ServiceCaller: InternalPorts {
    let addresses: [ServiceName: String]
    let token: String
    let http: HTTPClient

    /// Below the deadline of a request.
    private static let timeout = TimeAmount.seconds(9)
    private static let maximumBytes = 8 * 1024 * 1024

    func call(_ service: ServiceName, _ call: InternalCall) async throws -> InternalAnswer {
        guard let address = self.addresses[service] else { throw ServiceUnreachable(service: service) }
        var request = HTTPClientRequest(url: address + call.path)
        request.method = HTTPMethod(rawValue: call.method.rawValue)
        request.headers.add(name: "Authorization", value: "Bearer \(self.token)")
        if let name = call.operatorName { request.headers.add(name: "Transfa-Operator", value: name) }
        if let id = call.requestID { request.headers.add(name: "X-Request-Id", value: id) }
        if let trace = call.traceparent { request.headers.add(name: "traceparent", value: trace) }
        if !call.body.isEmpty {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: call.body))
        }
        do {
            let response = try await self.http.execute(request, timeout: Self.timeout)
            let body = try await response.body.collect(upTo: Self.maximumBytes)
            return InternalAnswer(
                status: Int(response.status.code),
                contentType: response.headers.first(name: "Content-Type"),
                body: Array(body.readableBytesView)
            )
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            // Whatever it was: address and token may stand in its text.
            throw ServiceUnreachable(service: service)
        }
    }
}
