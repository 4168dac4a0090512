import Contracts
import Hummingbird
import Messaging
import Primitives
import ServiceKit

/// Sign-up.
struct OnboardingController: Sendable {
    let mutation: Mutation
    let onboard: Onboard
    let provideDetails: ProvideDetails
    let users: UserStore
    let clock: any TimeSource

    /// Adds the routes.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.post("/onboarding") { try await self.post($0, $1) }
        group.put("/onboarding/details") { try await self.putDetails($0, $1) }
        group.get("/onboarding/status") { try await self.getStatus($0, $1) }
    }

    private func post(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let identity = try context.requireIdentity()
        let body = try await request.decodeBody(as: OnboardingRequest.self, context: context)
        let signUp = try SignUp(checking: body, today: LagosCalendar.day(of: self.clock.now))
        return try await self.mutation.run(request, context) { transaction in
            let answer = try await self.onboard(
                signUp,
                user: identity.userID,
                clerkSubject: identity.clerkSubject,
                in: transaction
            )
            return try APIResponse(.created, json: answer)
        }
    }

    private func putDetails(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let body = try await request.decodeBody(as: OnboardingDetailsRequest.self, context: context)
        let today = LagosCalendar.day(of: self.clock.now)
        return try await self.mutation.run(request, context) { transaction in
            try APIResponse(json: try await self.provideDetails(body, user: user, today: today, in: transaction))
        }
    }

    private func getStatus(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        guard let found = try await self.users.find(user, on: self.mutation.database) else {
            throw AuthError.notOnboarded
        }
        return try APIResponse(json: OnboardingStatusBody(found))
    }
}

/// GET /onboarding/status.
struct OnboardingStatusBody: Encodable {
    let userID: String
    let username: String
    let accountType: String
    let status: String
    let verificationStatus: String

    init(_ user: User) {
        self.userID = user.id.description
        self.username = user.username
        self.accountType = user.accountType.rawValue
        self.status = user.status.rawValue
        self.verificationStatus = user.verification.text
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case username
        case accountType = "account_type"
        case status
        case verificationStatus = "verification_status"
    }
}
