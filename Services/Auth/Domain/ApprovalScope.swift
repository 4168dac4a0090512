import Contracts

/// The one request that an approval is for.
struct ApprovalScope: Hashable, Sendable {
    /// In upper case.
    let method: String
    /// Without query.
    let path: String
    /// SHA-256 of the body, lower-case hexadecimal.
    let bodyHash: String

    /// Checks what a client asks to approve.
    init(checking request: ApprovalRequest) throws(FieldProblem) {
        let body = FieldCheck(pointer: "")
        guard Self.methods.contains(request.method) else { throw body.fail("method", .method) }
        guard Self.isPath(request.path) else { throw body.fail("path", .path) }
        guard request.bodySha256.utf8.count == 64, request.bodySha256.utf8.allSatisfy(Self.isHexDigit) else {
            throw body.fail("body_sha256", .bodyHash)
        }
        self.method = request.method
        self.path = request.path
        self.bodyHash = request.bodySha256
    }

    private static let methods: Set<String> = ["POST", "PUT", "PATCH", "DELETE"]
    private static let longestPath = 256

    private static func isPath(_ text: String) -> Bool {
        text.hasPrefix("/") && text.utf8.count <= Self.longestPath
            && text.utf8.allSatisfy { $0.isLetterOrDigit || "/-_.~%".utf8.contains($0) }
    }

    private static func isHexDigit(_ unit: UInt8) -> Bool {
        unit.isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(unit)
    }
}
