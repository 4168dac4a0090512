public import Foundation
public import HTTPTypes
public import Hummingbird
import NIOCore
import Primitives

/// A finished answer: status and body bytes, ready to be sent, stored and replayed as they are.
public struct APIResponse: Sendable, Equatable {
    /// The HTTP status.
    public var status: HTTPResponse.Status
    /// The body; empty for none.
    public var body: [UInt8]
    /// Headers besides content type and length.
    public var headers: HTTPFields

    /// An answer with bytes that are JSON already.
    public init(_ status: HTTPResponse.Status, body: [UInt8] = [], headers: HTTPFields = [:]) {
        self.status = status
        self.body = body
        self.headers = headers
    }

    /// An answer that encodes a value.
    public init(_ status: HTTPResponse.Status = .ok, json value: some Encodable, headers: HTTPFields = [:]) throws {
        self.init(status, body: Array(try Self.encoder().encode(value)), headers: headers)
    }

    /// Dates as RFC 3339 with milliseconds, slashes as they are, members in a stable order.
    public static func encoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(Timestamp.text(date))
        }
        return encoder
    }

    /// 202 with the place where the outcome will be.
    public static func accepted(location: String, json value: some Encodable) throws -> APIResponse {
        try APIResponse(.accepted, json: value, headers: [.location: location])
    }

    /// 204.
    public static let noContent = APIResponse(.noContent)
}

extension APIResponse: ResponseGenerator {
    /// The answer to send.
    public func response(from request: Request, context: some RequestContext) -> Response { self.response }

    var response: Response {
        guard !self.body.isEmpty else { return Response(status: self.status, headers: self.headers) }
        var headers = self.headers
        if headers[.contentType] == nil {
            headers[.contentType] = self.status.code < 400 ? "application/json" : "application/vnd.api+json"
        }
        return Response(
            status: self.status,
            headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: self.body))
        )
    }
}
