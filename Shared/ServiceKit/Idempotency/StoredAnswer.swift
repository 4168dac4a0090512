import Foundation
import HTTPTypes
import Primitives

/// An answer as it is kept: status, `Location`, body, and the hash of the request it belongs to.
struct StoredAnswer: Sendable, Equatable {
    let requestHash: [UInt8]
    let status: Int
    let location: String?
    let body: String

    init(requestHash: [UInt8], status: Int, location: String? = nil, body: String) {
        self.requestHash = requestHash
        self.status = status
        self.location = location
        self.body = body
    }

    init(_ response: APIResponse, for scope: IdempotencyScope) {
        self.init(
            requestHash: scope.fingerprint.bytes,
            status: response.status.code,
            location: response.headers[.location],
            body: String(decoding: response.body, as: UTF8.self)
        )
    }

    /// The answer again.
    ///
    /// - Throws: 422 `idempotency_key_reused` when the request is another one.
    func replay(for scope: IdempotencyScope) throws(APIError) -> APIResponse {
        guard scope.isOfSameRequest(self.requestHash) else { throw .idempotencyKeyReused }
        var headers: HTTPFields = [.idempotencyReplayed: "true"]
        headers[.location] = self.location
        return APIResponse(HTTPResponse.Status(code: self.status), body: Array(self.body.utf8), headers: headers)
    }

    /// Whether an answer is final: success and a business refusal are, anything that may end otherwise is not.
    static func isFinal(_ status: HTTPResponse.Status) -> Bool {
        switch status.code {
        case 200..<300: true
        case 400, 401, 403, 409, 429: false
        case 400..<500: true
        default: false
        }
    }

    /// For Redis: status, hash, `Location` and body in one text; a location has no spaces.
    var text: String { "\(self.status) \(Hex.encode(self.requestHash)) \(self.location ?? "") \(self.body)" }

    init?(text: String) {
        let parts = text.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4, let status = Int(parts[0]), let hash = Hex.decode(parts[1]) else { return nil }
        let location = parts[2].isEmpty ? nil : String(parts[2])
        self.init(requestHash: hash, status: status, location: location, body: String(parts[3]))
    }
}
