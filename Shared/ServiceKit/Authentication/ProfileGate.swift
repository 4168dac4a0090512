public import Hummingbird
public import Primitives

/// How a person's profile stands, as far as a service's own database knows.
public enum ProfileState: Hashable, Sendable {
    /// Nothing was heard of a sign-up.
    case missing
    /// It is there; what its owner may do is for each operation to say.
    case open
    /// It was closed or erased, for good.
    case closed
}

/// Lets nobody change anything, or ask others, whose profile is closed; what is their own they can read.
///
/// For all routes of a service that need a session: whatever changes something is refused without a word, and what is not to
/// be is listed. `ProfileStateTests` holds every operation to the table of states.
public struct ProfileGate: RouterMiddleware {
    /// The routes that differ from the rule, each as its method and path: `GET /users/{username}`.
    public struct Routes: Sendable {
        var asking: Set<String>
        var free: Set<String>
        var deciding: Set<String>

        /// Routes that differ.
        ///
        /// - Parameters:
        ///   - asking: Reads that tell about others, or about the profile itself: refused to whoever has no profile too.
        ///   - free: Changes that a closed profile may make too: they sort its papers, or end what goes on by itself.
        ///   - deciding: Orders that look at their sender under a lock. They are not held up by another look: only a refusal
        ///     is looked at, and says what is behind it. So who repeats an order from before has its answer.
        public init(asking: Set<String> = [], free: Set<String> = [], deciding: Set<String> = []) {
            self.asking = asking
            self.free = free
            self.deciding = deciding
        }
    }

    /// 403: the profile is closed for good.
    public static let closed = APIError.forbidden(
        "profile_closed",
        detail: "This profile is closed. What is in it can be read; nothing can be changed any more."
    )

    private let routes: Routes
    private let state: @Sendable (UserID) async throws -> ProfileState

    /// Creates the gate; `state` reads the service's own database.
    public init(_ routes: Routes = Routes(), state: @escaping @Sendable (UserID) async throws -> ProfileState) {
        self.routes = routes
        self.state = state
    }

    /// Answers 403 or 409 itself, or calls the rest of the chain.
    public func handle(
        _ request: Request,
        context: AppRequestContext,
        next: @concurrent (Request, AppRequestContext) async throws -> Response
    ) async throws -> Response {
        let isRead = [.get, .head].contains(request.method)
        let route = "\(isRead ? "GET" : request.method.rawValue) \(context.endpointPath ?? "")"
        if self.routes.deciding.contains(route) {
            return try await self.explained(context) { try await next(request, context) }
        }
        let isAsking = self.routes.asking.contains(route)
        guard isAsking || !(isRead || self.routes.free.contains(route)) else {
            return try await next(request, context)
        }
        switch try await self.state(try context.requireIdentity().userID) {
        case .closed: throw Self.closed
        // A change says by itself that it needs a profile: not all do.
        case .missing where isAsking: throw APIError.notOnboarded
        case .missing, .open: return try await next(request, context)
        }
    }

    /// What an order answers; a refusal of a closed profile says that it is closed.
    private func explained(
        _ context: AppRequestContext,
        _ answer: () async throws -> Response
    ) async throws -> Response {
        do {
            let response = try await answer()
            guard response.status == .forbidden else { return response }
            try await self.refuseIfClosed(context)
            return response
        } catch let error as any APIErrorConvertible where error.apiError.status == .forbidden {
            if error.apiError != Self.closed { try await self.refuseIfClosed(context) }
            throw error
        }
    }

    private func refuseIfClosed(_ context: AppRequestContext) async throws {
        guard try await self.state(try context.requireIdentity().userID) != .closed else { throw Self.closed }
    }
}
