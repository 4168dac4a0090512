import Foundation
import HTTPTypes
import Hummingbird
import Logging
import Primitives
import ServiceKit

/// Signing in and out, and one's own sessions.
struct SessionController: Sendable {
    let signIn: SignIn
    /// Whether the cookie travels over TLS alone; not in development.
    let isSecure: Bool

    private static let longestToken = 4096
    /// Where the identity provider's own script leaves the session token, on the domain of the suite.
    private static let providerCookie = "__session"

    /// Adds the routes that nobody needs a session for.
    func add(to group: RouterGroup<AppRequestContext>) {
        // So that nobody can try many tokens.
        group.limitedByAddress(.secrets).post("/session") { try await self.open($0, $1) }
        group.get("/ways") { _, _ in
            try APIResponse(json: Ways(token: !self.signIn.tokens.isEmpty, organization: self.signIn.role != nil))
        }
    }

    /// Adds the routes of those who have one.
    func addOwn(to group: RouterGroup<AppRequestContext>) {
        group.get("/session") { request, _ in
            try SessionResource.answer(try await self.signIn.session(of: request))
        }
        group.delete("/session") { request, context in try await self.close(request, context) }
        group.get("/sessions") { request, _ in try await self.list(request) }
        group.delete("/sessions") { request, context in try await self.closeAll(request, context) }
        group.delete("/sessions/:id") { request, context in try await self.end(request, context) }
    }

    /// How people may sign in here.
    private struct Ways: Encodable {
        let token: Bool
        let organization: Bool
    }

    private struct Order: Decodable {
        let token: String?
    }

    // MARK: In

    private func open(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        try SessionMiddleware.requireOwnPage(request)
        let order = try await request.decodeBody(as: Order.self, context: context)
        do {
            let opened = try await self.opened(order.token, request)
            context.senderIsKnown()
            Self.note("an operator signed in", opened.session, context)
            var answer = try SessionResource.answer(opened)
            answer.headers[.setCookie] = self.cookie(
                opened.secret.text,
                seconds: self.signIn.life.whole.components.seconds
            )
            return answer
        } catch SignIn.Refusal.wrongToken {
            context.logger.notice("a sign-in was refused")
            throw APIError(.unauthorized, code: "wrong_token", detail: "Nobody has this token.")
        } catch SignIn.Refusal.noOperator {
            context.logger.notice("a sign-in was refused")
            throw APIError.forbidden("no_operator", detail: "Your account has not the role of an operator.")
        }
    }

    /// With the token of the form, or else with the provider's session.
    private func opened(_ token: String?, _ request: Request) async throws -> SignIn.Opened {
        if let token {
            guard (1...Self.longestToken).contains(token.utf8.count) else { throw SignIn.Refusal.wrongToken }
            return try await self.signIn.withToken(token)
        }
        guard let cookie = request.cookies[Self.providerCookie] else { throw APIError.unauthenticated }
        return try await self.signIn.withOrganization(cookie.value)
    }

    // MARK: Out

    private func close(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let session = try await self.signIn.session(of: request).session
        _ = try await self.signIn.end(session.id, of: session.name, .signedOut)
        Self.note("an operator signed out", session, context)
        return self.left
    }

    private func closeAll(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let session = try await self.signIn.session(of: request).session
        try await self.signIn.endAll(of: session.name)
        Self.note("an operator ended all sessions", session, context)
        return self.left
    }

    /// One of one's own: another's is none to who asks.
    private func end(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let own = try await self.signIn.session(of: request).session
        let id = try context.uuid("id")
        let reason: OperatorSession.End = id == own.id ? .signedOut : .ended
        guard try await self.signIn.end(id, of: own.name, reason) else { throw APIError.notFound(parameter: "id") }
        Self.note("an operator ended a session", own, context)
        return id == own.id ? self.left : .noContent
    }

    private func list(_ request: Request) async throws -> APIResponse {
        let own = try await self.signIn.session(of: request).session
        let sessions = try await self.signIn.sessions(of: own.name)
        return try APIResponse(json: sessions.map { SessionRow($0, isThis: $0.id == own.id) })
    }

    /// The browser forgets the cookie.
    private var left: APIResponse {
        var answer = APIResponse.noContent
        answer.headers[.setCookie] = self.cookie("", seconds: 0)
        return answer
    }

    private static func note(_ what: Logger.Message, _ session: OperatorSession, _ context: AppRequestContext) {
        context.logger.info(what, metadata: ["operator": .safe(session.name)])
    }

    private func cookie(_ value: String, seconds: Int64) -> String {
        let secure = self.isSecure ? "; Secure" : ""
        return "\(SignIn.cookieName)=\(value); Path=/console; Max-Age=\(seconds); HttpOnly; SameSite=Strict\(secure)"
    }
}
