import Cryptography
import Foundation
import Messaging
import Primitives
import ServiceKit

/// Opens sessions of operators, knows them again and ends them.
///
/// They are rows, so every replica knows every session, and one that was ended is over everywhere. One ends when its owner
/// says so, when nobody was at the page for long enough, when it is old enough, and when its token is withdrawn or another
/// role is asked for.
struct SignIn: Sendable {
    /// A role that makes an operator of who has it.
    struct Role: Sendable {
        let verifier: any TokenVerifier
        let organization: Identity.Organization
    }

    /// How long sessions last.
    struct Life: Sendable, Hashable {
        /// Whatever is done with it.
        let whole: Duration
        /// With nobody at the page.
        let idle: Duration
    }

    let tokens: OperatorTokens
    /// Nil where nobody signs in by organization.
    let role: Role?
    let life: Life
    let database: EventDatabase
    let clock: any TimeSource
    private let store = SessionStore()

    /// So many sessions one operator can have; a further one ends the oldest.
    static let mostSessions = 10
    /// So old may be when somebody was last seen: not every request writes.
    private static let seenEvery: TimeInterval = 60

    init(
        tokens: OperatorTokens,
        role: Role?,
        life: Life,
        database: EventDatabase,
        clock: any TimeSource
    ) {
        self.tokens = tokens
        self.role = role
        self.life = life
        self.database = database
        self.clock = clock
    }

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
        let secret: SessionSecret

        /// Stands in a header of everything that changes something, which other sites cannot send.
        var guardWord: String { self.secret.guardWord }
    }

    /// Signs in with an operator's own token.
    ///
    /// - Throws: `Refusal`.
    func withToken(_ token: String) async throws -> Opened {
        guard let (name, credential) = self.tokens.owner(of: token) else { throw Refusal.wrongToken }
        return try await self.open(name, .token, credential)
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
        return try await self.open(name, .organization, Self.credential(role.organization))
    }

    /// The session of a cookie; nil for any that is over, or never was.
    ///
    /// - Parameters:
    ///   - cookie: What the browser sent.
    ///   - isAttended: Whether somebody is at the page; a page that only looks by itself keeps no session open.
    /// - Returns: Who is signed in.
    /// - Throws: What the database threw.
    func session(in cookie: String, isAttended: Bool = true) async throws -> Opened? {
        guard let secret = SessionSecret(cookie: cookie),
            let session = try await self.store.find(secret, on: self.database)
        else { return nil }
        let now = self.clock.now
        guard !session.isOver(at: now, idle: self.life.idle) else { return nil }
        guard self.stands(session) else {
            _ = try await self.end(session.id, of: session.name, .withdrawn)
            return nil
        }
        if isAttended, now.timeIntervalSince(session.seenAt) >= Self.seenEvery {
            try await self.database.transaction(cause: Cause()) { try await self.store.touch(session.id, in: $0) }
        }
        return Opened(session: session, secret: secret)
    }

    /// An operator's sessions that go on, the one that was seen last first.
    func sessions(of name: String) async throws -> [OperatorSession] {
        let now = self.clock.now
        return try await self.store.all(of: name, after: now, on: self.database).filter {
            !$0.isOver(at: now, idle: self.life.idle) && self.stands($0)
        }
    }

    /// Ends a session of an operator.
    ///
    /// - Returns: Whether there was one to end.
    func end(_ id: UUID, of name: String, _ reason: OperatorSession.End) async throws -> Bool {
        try await self.database.transaction(cause: Cause()) {
            try await self.store.end(id, of: name, reason, in: $0)
        }
    }

    /// Ends all sessions of an operator.
    func endAll(of name: String) async throws {
        try await self.database.transaction(cause: Cause()) {
            try await self.store.end(allOf: name, butNewest: 0, .ended, in: $0)
        }
    }

    /// Names the role that a session was opened with: when another one is asked for, the session ends.
    private static func credential(_ organization: Identity.Organization) -> String {
        let digest = SHA256.hash(data: Array("\(organization.id)/\(organization.role)".utf8))
        return String(Hex.encode(Array(digest)).prefix(12))
    }

    private func open(_ name: String, _ way: OperatorSession.Way, _ credential: String) async throws -> Opened {
        let secret = SessionSecret()
        return try await self.database.transaction(cause: Cause()) { transaction in
            let now = transaction.now
            let session = OperatorSession(
                id: transaction.makeID(),
                name: name,
                way: way,
                credential: credential,
                createdAt: now,
                seenAt: now,
                expiresAt: now.addingTimeInterval(Double(self.life.whole.components.seconds))
            )
            try await self.store.insert(session, secret, in: transaction)
            try await self.store.end(allOf: name, butNewest: Self.mostSessions, .tooMany, in: transaction)
            return Opened(session: session, secret: secret)
        }
    }

    private func stands(_ session: OperatorSession) -> Bool {
        switch session.way {
        case .token: self.tokens.has(session.name, session.credential)
        case .organization: self.role.map { Self.credential($0.organization) } == session.credential
        }
    }
}
