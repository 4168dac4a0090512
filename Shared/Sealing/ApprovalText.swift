import Cryptography
public import Foundation
import Primitives

/// What a device signs to approve one outbound payment: one request, by one user, once.
public struct ApprovalText: Hashable, Sendable {
    /// The HTTP method in upper case.
    public let method: String
    /// The path as sent, without the query.
    public let path: String
    /// Lower-case hexadecimal SHA-256 of the raw body.
    public let bodySHA256: String
    /// Makes the approval usable once.
    public let nonce: UUID
    /// When it was signed, in Unix seconds.
    public let timestamp: Int64
    /// Who approves.
    public let user: UUID

    /// Makes the text for a body whose hash is known.
    public init(method: String, path: String, bodySHA256: String, nonce: UUID, timestamp: Int64, user: UUID) {
        self.method = method.uppercased()
        self.path = path
        self.bodySHA256 = bodySHA256.lowercased()
        self.nonce = nonce
        self.timestamp = timestamp
        self.user = user
    }

    /// Makes the text for a body.
    public init(
        method: String,
        path: String,
        body: some DataProtocol,
        nonce: UUID,
        timestamp: Int64,
        user: UUID
    ) {
        self.init(
            method: method,
            path: path,
            bodySHA256: Self.sha256(body),
            nonce: nonce,
            timestamp: timestamp,
            user: user
        )
    }

    /// Lower-case hexadecimal SHA-256, as approvals hold it.
    public static func sha256(_ body: some DataProtocol) -> String { Hex.encode(Array(SHA256.hash(data: body))) }

    /// The signed bytes: seven lines in UTF-8, separated by LF, none after the last.
    public var text: String {
        [
            "TRANSFA-APPROVAL-1", self.method, self.path, self.bodySHA256, self.nonce.lowercased,
            String(self.timestamp), self.user.lowercased,
        ].joined(separator: "\n")
    }

    /// Whether no part could pass for two lines.
    var isUnambiguous: Bool {
        [self.method, self.path, self.bodySHA256].allSatisfy { part in part.utf8.allSatisfy { $0 >= 0x20 } }
    }
}
