import Foundation
import HTTPTypes
import Hummingbird
import Logging
import Primitives
import ServiceKit

/// Signing in and out.
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
        group.get("/session") { request, _ in try Self.answer(self.signIn.session(of: request)) }
        group.delete("/session") { _, _ in
            var answer = APIResponse.noContent
            answer.headers[.setCookie] = self.cookie("", seconds: 0)
            return answer
        }
    }

    /// How people may sign in here.
    private struct Ways: Encodable {
        let token: Bool
        let organization: Bool
    }

    private struct Order: Decodable {
        let token: String?
    }

    private struct Session: Encodable {
        let name: String
        let way: String
        let expiresAt: String
        let guardWord: String

        private enum CodingKeys: String, CodingKey {
            case name, way
            case expiresAt = "expires_at"
            case guardWord = "guard"
        }
    }

    private func open(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        try SessionMiddleware.requireOwnPage(request)
        let order = try await request.decodeBody(as: Order.self, context: context)
        do {
            let opened = try await self.opened(order.token, request)
            let name = opened.session.name
            context.senderIsKnown()
            context.logger.info("an operator signed in", metadata: ["operator": .safe(name)])
            var answer = try Self.answer(opened)
            answer.headers[.setCookie] = self.cookie(
                opened.cookie,
                seconds: self.signIn.lifetime.components.seconds
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
            return try self.signIn.withToken(token)
        }
        guard let cookie = request.cookies[Self.providerCookie] else { throw APIError.unauthenticated }
        return try await self.signIn.withOrganization(cookie.value)
    }

    private static func answer(_ opened: SignIn.Opened) throws -> APIResponse {
        try APIResponse(
            json: Session(
                name: opened.session.name,
                way: opened.session.way.rawValue,
                expiresAt: Timestamp.text(opened.session.expiresAt),
                guardWord: opened.guardWord
            )
        )
    }

    private func cookie(_ value: String, seconds: Int64) -> String {
        let secure = self.isSecure ? "; Secure" : ""
        return "\(SignIn.cookieName)=\(value); Path=/console; Max-Age=\(seconds); HttpOnly; SameSite=Strict\(secure)"
    }
}
