public import Hummingbird

/// Counts each request of a route under one more policy.
public struct RateLimitMiddleware: RouterMiddleware {
    private let policy: RatePolicy
    private let subject: Subject

    /// For whom it counts.
    enum Subject: Sendable {
        case address
        case user
    }

    /// Creates the middleware; `RouterGroup.limited` does.
    public init(_ policy: RatePolicy) {
        self.init(policy, of: policy == .address ? .address : .user)
    }

    init(_ policy: RatePolicy, of subject: Subject) {
        self.policy = policy
        self.subject = subject
    }

    /// Answers 429 itself, or calls the rest of the chain.
    public func handle(
        _ request: Request,
        context: AppRequestContext,
        next: @concurrent (Request, AppRequestContext) async throws -> Response
    ) async throws -> Response {
        let key: RateKey?
        switch self.subject {
        case .address: key = context.client.map { RateKey(self.policy, address: $0) }
        case .user: key = RateKey(self.policy, user: try context.requireIdentity().userID)
        }
        let standings = try await context.count(key.map { [$0] } ?? [])
        var response = try await next(request, context)
        // How much others behind the same address sent is nobody's business.
        if self.subject == .user { RateLimiter.describe(standings, in: &response.headers) }
        return response
    }
}

extension RouterGroup where Context == AppRequestContext {
    /// The same group, whose routes count under a stricter policy besides those of all routes.
    ///
    /// `.address` is for routes without `AuthenticationMiddleware`, which counts users and strangers by itself.
    public func limited(_ policy: RatePolicy) -> RouterGroup<AppRequestContext> {
        self.group().add(middleware: RateLimitMiddleware(policy))
    }

    /// The same group, whose routes one address may use as often as one user elsewhere: for those whom nobody knows yet,
    /// such as who signs in.
    public func limitedByAddress(_ policy: RatePolicy) -> RouterGroup<AppRequestContext> {
        self.group().add(middleware: RateLimitMiddleware(policy, of: .address))
    }
}

/// Counts webhooks of an address, and those that nobody has signed once more.
///
/// An address that has sent too many of the latter is refused before anything of the next one is read.
struct WebhookLimitMiddleware: RouterMiddleware {
    typealias Context = AppRequestContext

    func handle(
        _ request: Request,
        context: AppRequestContext,
        next: @concurrent (Request, AppRequestContext) async throws -> Response
    ) async throws -> Response {
        guard let address = context.client else { return try await next(request, context) }
        let stranger = RateKey(.strangers, address: address)
        try context.refuseIfFull(stranger)
        _ = try await context.count([RateKey(.webhooks, address: address)])
        do {
            return try await next(request, context)
        } catch let error as any APIErrorConvertible where error.apiError.status == .unauthorized {
            _ = try await context.count([stranger])
            throw error
        }
    }
}

extension Router where Context == AppRequestContext {
    /// Routes for everybody that count under the policy `address`.
    public func limitedByAddress() -> RouterGroup<AppRequestContext> {
        self.group().add(middleware: RateLimitMiddleware(.address))
    }

    /// Routes for webhooks, which verify signatures by themselves.
    public func webhooks() -> RouterGroup<AppRequestContext> {
        self.group().add(middleware: WebhookLimitMiddleware())
    }
}
