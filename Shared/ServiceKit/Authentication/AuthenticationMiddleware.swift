import HTTPTypes
public import Hummingbird

/// Lets only requests with a good session token through and puts the sender's identity into the context.
///
/// Counts them too: a good one under its user, wherever it comes from, all others under their address. So a phone without
/// a session stops nobody who shares its address.
public struct AuthenticationMiddleware: RouterMiddleware {
    private let verifier: any TokenVerifier

    /// Creates the middleware.
    public init(verifier: any TokenVerifier) {
        self.verifier = verifier
    }

    /// Answers 401 or 429 itself, or calls the rest of the chain.
    public func handle(
        _ request: Request,
        context: AppRequestContext,
        next: @concurrent (Request, AppRequestContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        do {
            guard let token = Self.bearerToken(of: request) else { throw APIError.unauthenticated }
            context.identity = try await self.verifier.verify(token)
        } catch {
            if let address = context.client { _ = try await context.count([RateKey(.strangers, address: address)]) }
            throw error
        }
        let user = try context.requireIdentity().userID
        context.senderIsKnown()
        let standings = try await context.count([RateKey(.user, user: user)])
        var response = try await next(request, context)
        RateLimiter.describe(standings, in: &response.headers)
        return response
    }

    /// The token of an `Authorization: Bearer` header.
    static func bearerToken(of request: Request) -> String? {
        guard let header = request.headers[.authorization] else { return nil }
        guard let space = header.utf8.firstIndex(of: UInt8(ascii: " ")), header[..<space].lowercased() == "bearer"
        else { return nil }
        let token = header[space...].drop { $0 == " " }
        return token.isEmpty ? nil : String(token)
    }
}
