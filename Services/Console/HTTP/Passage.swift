import Contracts
import HTTPTypes

/// A path of the services' internal ports that the page may use, in the name of who has signed in.
///
/// What is not here cannot be reached from a browser, whatever it sends.
struct Passage: Sendable {
    let method: HTTPRequest.Method
    /// Below `/internal`, with parameters as routes have them.
    let path: String
    /// The services that have it.
    let services: Set<ServiceName>

    private init(_ method: HTTPRequest.Method, _ path: String, _ services: [ServiceName] = ServiceName.allCases) {
        self.method = method
        self.path = path
        self.services = Set(services)
    }

    /// Names of the parameters in the path.
    var parameters: [String] {
        self.path.split(separator: "/").filter { $0.hasPrefix(":") }.map { String($0.dropFirst()) }
    }

    /// The path with its parameters filled in; nil when one is missing or would lead elsewhere.
    func filled(_ value: (String) -> String?) -> String? {
        var filled = "/internal"
        for segment in self.path.split(separator: "/") {
            guard segment.hasPrefix(":") else {
                filled += "/\(segment)"
                continue
            }
            guard let text = value(String(segment.dropFirst())), Self.isPlain(text) else { return nil }
            filled += "/\(text)"
        }
        return filled
    }

    /// Ids, references and numbers; no dots alone, no slashes, nothing escaped.
    private static func isPlain(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count) && !text.utf8.allSatisfy { $0 == UInt8(ascii: ".") }
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }
}

extension Passage {
    /// All there are.
    static let all = Self.looks + Self.acts

    private static let looks = [
        Passage(.get, "/ops/status"), Passage(.get, "/ops/jobs"), Passage(.get, "/ops/parked"),
        Passage(.get, "/ops/audit"), Passage(.get, "/ops/audit/check"),
        Passage(.get, "/transfers", [.transaction]), Passage(.get, "/transfers/:id", [.transaction]),
        Passage(.get, "/transfer-proposals", [.transaction]),
        Passage(.get, "/reconciliations/breaks", [.transaction]),
        Passage(.get, "/ops/projections", [.analytics]),
        Passage(.get, "/replays", [.console]), Passage(.get, "/replays/:id", [.console]),
        Passage(.get, "/replays/:id/changes", [.console]), Passage(.get, "/replays/:id/problems", [.console]),
    ]

    private static let acts = [
        Passage(.post, "/ops/jobs/:id/release"), Passage(.post, "/ops/jobs/:id/cancel"),
        Passage(.post, "/ops/jobs/:id/retry"), Passage(.post, "/ops/parked/retry"),
        Passage(.post, "/ops/parked/discard"),
        Passage(.post, "/transfers/:id/proposals", [.transaction]),
        Passage(.post, "/transfer-proposals/:id/approve", [.transaction]),
        Passage(.post, "/transfer-proposals/:id/withdraw", [.transaction]),
        Passage(.post, "/reconciliations/breaks/:id/notes", [.transaction]),
        Passage(.post, "/replay-plans", [.console]), Passage(.post, "/replays", [.console]),
        Passage(.post, "/rebuilds", [.console]),
        Passage(.post, "/replays/:id/cancel", [.console]), Passage(.post, "/replays/:id/resume", [.console]),
    ]
}
