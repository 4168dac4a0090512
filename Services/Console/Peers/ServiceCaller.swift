import AsyncHTTPClient
import Contracts
import Foundation
import HTTPReach
import HTTPTypes
import NIOCore
import NIOHTTP1

/// A call to the internal port of a service.
struct InternalCall: Sendable {
    var method: HTTPRequest.Method = .get
    /// Path and query.
    var path: String
    var body: [UInt8] = []
    var contentType = "application/json"
    /// In whose name, for what is written into the audit.
    var operatorName: String?
    /// The request it is part of.
    var requestID: String?
    var traceparent: String?
    /// Below the deadline of a request.
    var timeout = TimeAmount.seconds(9)
    /// A longer answer counts as none.
    var maximumBytes = 8 * 1024 * 1024

    /// JSON as one line: a line break in it is only ever white space between its parts.
    static func line(_ json: String) -> [UInt8] {
        json.utf8.map { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") ? UInt8(ascii: " ") : $0 }
    }
}

/// What a service has answered.
struct InternalAnswer: Sendable {
    let status: Int
    var headers = HTTPHeaders()
    let body: [UInt8]

    var contentType: String? { self.headers.first(name: "Content-Type") }
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
    /// False when its address is not among the settings.
    let hasAddress: Bool
}

/// Calls services with the suite's internal token, which never leaves this process.
struct ServiceCaller: InternalPorts {
    let addresses: [ServiceName: String]
    let token: String
    let http: HTTPClient

    func call(_ service: ServiceName, _ call: InternalCall) async throws -> InternalAnswer {
        guard let address = self.addresses[service] else {
            throw ServiceUnreachable(service: service, hasAddress: false)
        }
        var request = HTTPClientRequest(url: address + call.path)
        request.method = HTTPMethod(rawValue: call.method.rawValue)
        request.headers.add(name: "Authorization", value: "Bearer \(self.token)")
        if let name = call.operatorName { request.headers.add(name: "Transfa-Operator", value: name) }
        if let id = call.requestID { request.headers.add(name: "X-Request-Id", value: id) }
        if let trace = call.traceparent { request.headers.add(name: "traceparent", value: trace) }
        if !call.body.isEmpty {
            request.headers.add(name: "Content-Type", value: call.contentType)
            request.body = .bytes(ByteBuffer(bytes: call.body))
        }
        do {
            let response = try await self.http.reach(request, within: call.timeout)
            let body = try await response.body.collect(upTo: call.maximumBytes)
            return InternalAnswer(
                status: Int(response.status.code),
                headers: response.headers,
                body: Array(body.readableBytesView)
            )
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            // Whatever it was: address and token may stand in its text.
            throw ServiceUnreachable(service: service, hasAddress: true)
        }
    }
}
