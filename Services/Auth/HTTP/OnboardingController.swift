import Contracts
import Hummingbird
import Messaging
import Primitives
import ServiceKit

/// Sign-up.
struct OnboardingController: Sendable {
    let once: ChangeOnce
    let onboard: Onboard
    let provideDetails: ProvideDetails
    let users: UserStore
    let clock: any TimeSource

    /// Adds the routes.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.limited(.identities).post("/onboarding") { try await self.post($0, $1) }
        group.limited(.identities).put("/onboarding/details") { try await self.putDetails($0, $1) }
        group.polled("/onboarding/status") { try await self.getStatus($0, $1) }
    }

    private func post(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let identity = try context.requireIdentity()
        let body = try await request.decodeBody(as: OnboardingRequest.self, context: context)
        let signUp = try SignUp(checking: body, today: LagosCalendar.day(of: self.clock.now))
        return try await self.once(request, context) { transaction in
            let answer = try await self.onboard(
                signUp,
                user: identity.userID,
                clerkSubject: identity.clerkSubject,
                contact: identity.contact,
                in: transaction
            )
            return try APIResponse(.created, json: answer)
        }
    }

    private func putDetails(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let identity = try context.requireIdentity()
        let body = try await request.decodeBody(as: OnboardingDetailsRequest.self, context: context)
        let today = LagosCalendar.day(of: self.clock.now)
        return try await self.once(request, context) { transaction in
            let answer = try await self.provideDetails(
                body,
                user: identity.userID,
                clerkSubject: identity.clerkSubject,
                contact: identity.contact,
                today: today,
                in: transaction
            )
            return try APIResponse(json: answer)
        }
    }

    private func getStatus(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        guard let found = try await self.users.find(user, on: self.once.database) else {
            throw AuthError.notOnboarded
        }
        return try APIResponse(json: OnboardingStatusResponse(found))
    }
}

extension OnboardingStatusResponse {
    /// Where a user stands.
    init(_ user: User) {
        let state = OnboardingState(user)
        var reason: Reason?
        if case .rejected(let why) = state { reason = Reason(code: why.rawValue, detail: why.sentence) }
        self.init(
            userID: user.id.uuid,
            username: user.username,
            accountType: user.accountType.rawValue,
            status: state.word,
            reason: reason
        )
    }
}
