import Cryptography
public import HTTPTypes
public import Hummingbird
import Primitives

/// Names a state of what a path answers: a client that polls with `If-None-Match` gets 304 and no body while it stands.
///
/// It belongs to one path with its query.
public struct EntityTag: Sendable {
    /// As headers carry it, in quotes.
    public let text: String

    /// Takes a tag as headers carry it.
    public init(text: String) { self.text = text }

    /// A strong tag of the bytes of an answer, for equal answers are equal bytes.
    ///
    /// It saves the way to the client, not the work.
    public init(of body: [UInt8]) {
        self.text = "\"\(Base64URL.encode(Array(SHA256.hash(data: body)).prefix(12)))\""
    }

    /// For what is one user's: nobody else may keep the answer, and nobody may use it without asking.
    public var privateHeaders: HTTPFields { [.eTag: self.text, .cacheControl: "private, no-cache"] }

    /// Whether `If-None-Match` has it (RFC 9110, 13.1.2: weak comparison, a list or `*`).
    public func isKnown(to headers: HTTPFields) -> Bool {
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
    func tagged(for request: Request) -> APIResponse {
        guard self.status == .ok, self.body.count <= Self.maximumTagged else { return self }
        let tag = EntityTag(of: self.body)
        var answer = self
        for field in tag.privateHeaders { answer.headers[field.name] = field.value }
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
