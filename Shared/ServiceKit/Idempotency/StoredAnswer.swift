import Foundation
import HTTPTypes
import Primitives

/// An answer as it is kept: status, body, and the hash of the request it belongs to.
struct StoredAnswer: Sendable, Equatable {
    let requestHash: [UInt8]
    let status: Int
    let body: String

    init(requestHash: [UInt8], status: Int, body: String) {
        self.requestHash = requestHash
        self.status = status
        self.body = body
    }

    init(_ response: APIResponse, for scope: IdempotencyScope) {
        self.init(
            requestHash: scope.fingerprint.bytes,
            status: response.status.code,
            body: String(decoding: response.body, as: UTF8.self)
        )
    }

    /// The answer again.
    ///
    /// - Throws: 422 `idempotency_key_reused` when the request is another one.
    func replay(for scope: IdempotencyScope) throws(APIError) -> APIResponse {
        guard scope.isOfSameRequest(self.requestHash) else {
            throw .refused(
                "idempotency_key_reused",
                detail: "The key was used for another request.",
                source: .header("Idempotency-Key")
            )
        }
        return APIResponse(
            HTTPResponse.Status(code: self.status),
            body: Array(self.body.utf8),
            headers: [.idempotencyReplayed: "true"]
        )
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

    /// For Redis: status, hash and body in one text.
    var text: String { "\(self.status) \(Hex.encode(self.requestHash)) \(self.body)" }

    init?(text: String) {
        let parts = text.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let status = Int(parts[0]), let hash = Hex.decode(parts[1]) else { return nil }
        self.init(requestHash: hash, status: status, body: String(parts[2]))
    }
}
