import Contracts
import Foundation
import HTTPTypes
import OutgoingHTTP

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
    var timeout = Duration.seconds(9)
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
    var headers: [HTTPHeader] = []
    let body: [UInt8]

    /// The first value of a header; upper and lower case are the same.
    func header(_ name: String) -> String? {
        self.headers.values(of: name).first
    }
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
        var outgoing = HTTPCall(
            HTTPMethod(rawValue: call.method.rawValue),
            address + call.path,
            headers: [("Authorization", "Bearer \(self.token)")],
            longestAnswer: call.maximumBytes
        )
        let named = [
            ("Transfa-Operator", call.operatorName), ("X-Request-Id", call.requestID),
            ("traceparent", call.traceparent),
        ]
        for case (let name, let value?) in named { outgoing.headers.append((name, value)) }
        if !call.body.isEmpty {
            outgoing.headers.append(("Content-Type", call.contentType))
            outgoing.body = call.body
        }
        do throws(HTTPFailure) {
            let answer = try await self.http.send(outgoing, within: call.timeout)
            return InternalAnswer(status: answer.status, headers: answer.headers, body: answer.body)
        } catch {
            if error.reason == .cancelled { throw CancellationError() }
            throw ServiceUnreachable(service: service, hasAddress: true)
        }
    }
}
