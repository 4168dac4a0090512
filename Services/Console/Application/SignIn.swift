import Cryptography
import Foundation
import Messaging
import Primitives
import Sealing
import ServiceKit

/// Opens sessions of operators and knows them again: a session is a text that only this service can have signed.
///
/// Nothing is stored, so every replica knows every session. It ends by itself, when its token is withdrawn or another role
/// is asked for, and with the `INTERNAL_TOKEN` that it was opened under.
struct SignIn: Sendable {
    /// A role that makes an operator of who has it.
    struct Role: Sendable {
        let verifier: any TokenVerifier
        let organization: Identity.Organization
    }

    let tokens: OperatorTokens
    /// Nil where nobody signs in by organization.
    let role: Role?
    let lifetime: Duration
    let clock: any TimeSource
    let hash: KeyedHash

    /// Why nobody was let in.
    enum Refusal: Error {
        case wrongToken
        /// Known to the identity provider, and no operator.
        case noOperator
    }

    /// An open session, with what the browser is given.
    struct Opened: Sendable {
        let session: OperatorSession
        /// Stands in the cookie, which scripts cannot read.
        let cookie: String
        /// Stands in a header of everything that changes something, which other sites cannot send.
        let guardWord: String
    }

    /// Signs in with an operator's own token.
    func withToken(_ token: String) throws(Refusal) -> Opened {
        guard let (name, credential) = self.tokens.owner(of: token) else { throw .wrongToken }
        return self.open(name, .token, credential)
    }

    /// Signs in with a session token of the identity provider.
    ///
    /// - Throws: `Refusal`; `APIError` when the token is not good or cannot be checked.
    func withOrganization(_ token: String) async throws -> Opened {
        guard let role = self.role else { throw Refusal.noOperator }
        let identity = try await role.verifier.verify(token)
        guard identity.organization == role.organization,
            let name = OperatorName.canonical(identity.clerkSubject)
        else { throw Refusal.noOperator }
        return self.open(name, .organization, Self.credential(role.organization))
    }

    /// Names the role that a session was opened with: when another one is asked for, the session ends.
    private static func credential(_ organization: Identity.Organization) -> String {
        let digest = SHA256.hash(data: Array("\(organization.id)/\(organization.role)".utf8))
        return String(Hex.encode(Array(digest)).prefix(12))
    }

    private func open(_ name: String, _ way: OperatorSession.Way, _ credential: String) -> Opened {
        // Whole seconds, as its text has them.
        let end = self.clock.now.timeIntervalSince1970.rounded(.down) + Double(self.lifetime.components.seconds)
        let session = OperatorSession(
            name: name,
            way: way,
            credential: credential,
            expiresAt: Date(timeIntervalSince1970: end)
        )
        return self.opened(session)
    }

    private func opened(_ session: OperatorSession) -> Opened {
        let (seal, word) = (Self.sealed(session.text), Self.guarded(session.text))
        return self.opened(session, seal: self.hash(seal), guardWord: self.hash(word))
    }

    private func opened(_ session: OperatorSession, seal: String, guardWord: String) -> Opened {
        Opened(session: session, cookie: "\(session.text).\(seal)", guardWord: guardWord)
    }

    /// As it may have been opened by another replica, or before the key was replaced.
    private func formerlyOpened(_ session: OperatorSession) -> [Opened] {
        zip(self.hash.former(Self.sealed(session.text)), self.hash.former(Self.guarded(session.text)))
            .map { self.opened(session, seal: $0, guardWord: $1) }
    }

    private static func sealed(_ text: String) -> String { "console session \(text)" }
    private static func guarded(_ text: String) -> String { "console guard \(text)" }

    /// The session in a cookie; nil for any that is not good any more, or never was.
    func session(in cookie: String) -> Opened? {
        guard let dot = cookie.lastIndex(of: "."), let session = OperatorSession(text: cookie[..<dot]) else {
            return nil
        }
        let candidates = [self.opened(session)] + self.formerlyOpened(session)
        guard let opened = candidates.first(where: { ConstantTime.equal($0.cookie, cookie) }),
            session.expiresAt > self.clock.now, self.stands(session)
        else { return nil }
        return opened
    }

    private func stands(_ session: OperatorSession) -> Bool {
        switch session.way {
        case .token: self.tokens.has(session.name, session.credential)
        case .organization: self.role.map { Self.credential($0.organization) } == session.credential
        }
    }
}
