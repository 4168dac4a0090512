import Crypto
import HTTPTypes
public import Hummingbird
import Primitives

/// Names the bytes of an answer: a client that polls with `If-None-Match` gets 304 and no body while they are the same.
///
/// A strong tag, for equal answers are equal bytes. It saves the way to the client, not the work.
struct EntityTag: Sendable {
    let text: String

    init(_ body: [UInt8]) {
        self.text = "\"\(Base64URL.encode(Array(SHA256.hash(data: body)).prefix(12)))\""
    }

    /// Whether `If-None-Match` has it (RFC 9110, 13.1.2: weak comparison, a list or `*`).
    func isKnown(to headers: HTTPFields) -> Bool {
        headers[values: .ifNoneMatch].flatMap { $0.split(separator: ",") }.contains { part in
            let tag = part.filter { $0 != " " && $0 != "\t" }
            // A proxy that packs the body makes the tag weak.
            return tag == "*" || tag == self.text || tag == "W/" + self.text
        }
    }
}

extension APIResponse {
    /// A longer body is sent without a tag.
    static let maximumTagged = 256 * 1024

    /// The answer with its tag, or 304 when the client has it already.
    ///
    /// Nobody but the client may keep it, and not use it without asking.
    func tagged(for request: Request) -> APIResponse {
        guard self.status == .ok, self.body.count <= Self.maximumTagged else { return self }
        let tag = EntityTag(self.body)
        var answer = self
        answer.headers[.eTag] = tag.text
        answer.headers[.cacheControl] = "private, no-cache"
        guard tag.isKnown(to: request.headers) else { return answer }
        answer.status = .notModified
        answer.body = []
        return answer
    }
}

extension RouterGroup where Context == AppRequestContext {
    /// A GET that clients ask again and again: its answers have an `ETag`, and an unchanged one is 304.
    public func polled(
        _ path: RouterPath,
        use handler: @Sendable @escaping (Request, AppRequestContext) async throws -> APIResponse
    ) {
        self.get(path) { request, context in try await handler(request, context).tagged(for: request) }
    }
}
