public import Hummingbird

/// Counts each request of a route under one more policy.
public struct RateLimitMiddleware: RouterMiddleware {
    private let policy: RatePolicy

    /// Creates the middleware; `RouterGroup.limited` does.
    public init(_ policy: RatePolicy) {
        self.policy = policy
    }

    /// Answers 429 itself, or calls the rest of the chain.
    public func handle(
        _ request: Request,
        context: AppRequestContext,
        next: @concurrent (Request, AppRequestContext) async throws -> Response
    ) async throws -> Response {
        let key: RateKey?
        if self.policy == .address {
            key = context.client.map { RateKey(.address, address: $0) }
        } else {
            key = RateKey(self.policy, user: try context.requireIdentity().userID)
        }
        let standings = try await context.count(key.map { [$0] } ?? [])
        var response = try await next(request, context)
        RateLimiter.describe(standings, in: &response.headers)
        return response
    }
}

extension RouterGroup where Context == AppRequestContext {
    /// The same group, whose routes count under a stricter policy besides those of all routes.
    ///
    /// `.address` is for routes without `AuthenticationMiddleware`, which counts addresses and users by itself.
    public func limited(_ policy: RatePolicy) -> RouterGroup<AppRequestContext> {
        self.group().add(middleware: RateLimitMiddleware(policy))
    }
}

extension Router where Context == AppRequestContext {
    /// Routes for everybody that count under the policy `address`.
    public func limitedByAddress() -> RouterGroup<AppRequestContext> {
        self.group().add(middleware: RateLimitMiddleware(.address))
    }
}
