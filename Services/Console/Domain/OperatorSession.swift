import Foundation
import Primitives

/// Somebody has signed in to the page, and until when; a row of the database.
struct OperatorSession: Sendable, Hashable {
    /// How somebody has signed in.
    enum Way: String, Sendable {
        /// By a token of their own.
        case token
        /// By a role in the organization at the identity provider.
        case organization
    }

    /// Why one is over before its time.
    enum End: String, Sendable {
        case signedOut = "signed_out"
        /// By its owner, from another session.
        case ended
        /// Its token, or its role, is none any more.
        case withdrawn
        /// Its owner has opened so many newer ones.
        case tooMany = "too_many"
    }

    let id: UUID
    /// As the audit names who acts.
    let name: String
    let way: Way
    /// Names the token or the role it was opened with: when that is withdrawn the session ends too.
    let credential: String
    let createdAt: Date
    /// When somebody was at the page.
    let seenAt: Date
    /// It ends then, whatever is done with it.
    let expiresAt: Date

    /// Whether its time is over: it is as old as one can be, or nobody was at the page for so long.
    func isOver(at now: Date, idle: Duration) -> Bool {
        self.expiresAt <= now || self.seenAt.addingTimeInterval(Double(idle.components.seconds)) <= now
    }

    /// Names operators in headers and in the audit, in the one spelling that they have there.
    static func isName(_ text: String) -> Bool { OperatorName.canonical(text) == text }
}
