import Foundation
import Primitives
import ServiceKit

/// The session of who asks, as JSON.
struct SessionResource: Encodable {
    let name: String
    let way: String
    let expiresAt: String
    let guardWord: String

    private enum CodingKeys: String, CodingKey {
        case name, way
        case expiresAt = "expires_at"
        case guardWord = "guard"
    }

    /// The answer with it.
    static func answer(_ opened: SignIn.Opened) throws -> APIResponse {
        try APIResponse(
            json: SessionResource(
                name: opened.session.name,
                way: opened.session.way.rawValue,
                expiresAt: Timestamp.text(opened.session.expiresAt),
                guardWord: opened.guardWord
            )
        )
    }
}

/// One of the sessions of who asks, as JSON.
struct SessionRow: Encodable {
    let id: String
    let way: String
    let createdAt: String
    let seenAt: String
    let expiresAt: String
    /// Whether it is the one that asks.
    let isThis: Bool

    init(_ session: OperatorSession, isThis: Bool) {
        self.id = session.id.lowercased
        self.way = session.way.rawValue
        self.createdAt = Timestamp.text(session.createdAt)
        self.seenAt = Timestamp.text(session.seenAt)
        self.expiresAt = Timestamp.text(session.expiresAt)
        self.isThis = isThis
    }

    private enum CodingKeys: String, CodingKey {
        case id, way
        case createdAt = "created_at"
        case seenAt = "seen_at"
        case expiresAt = "expires_at"
        case isThis = "is_this"
    }
}
