import HTTPTypes
import Hummingbird
import ServiceKit

/// Names a state of the user's inbox: a client that polls with it gets 304 and no body while nothing has changed.
///
/// It belongs to one path with its query, as every entity tag does.
struct EntityTag: Sendable {
    let text: String

    init(revision: Int64) { self.text = "\"\(revision)\"" }

    /// Nobody but the user may keep the answer, and nobody may use it without asking.
    var headers: HTTPFields { [.eTag: self.text, .cacheControl: "private, no-cache"] }

    var notModified: APIResponse { APIResponse(.notModified, headers: self.headers) }

    /// Whether `If-None-Match` has it (RFC 9110, 13.1.2: weak comparison, a list or `*`).
    func isKnown(to request: Request) -> Bool {
        guard let header = request.headers[.ifNoneMatch] else { return false }
        return header.split(separator: ",").contains { part in
            let tag = part.trimmingPrefix { $0 == " " || $0 == "\t" }
            let plain = tag.hasPrefix("W/") ? tag.dropFirst(2) : tag
            return plain.prefix { $0 != " " && $0 != "\t" } == self.text || plain == "*"
        }
    }
}
