import Contracts
import Primitives

/// A sign-up whose every field obeys its rule.
struct SignUp: Hashable, Sendable {
    let username: Username
    let details: UserDetails

    /// Checks a request.
    ///
    /// `today` is the day in Lagos.
    init(checking request: OnboardingRequest, today: CivilDate) throws(FieldProblem) {
        self.username = try Username(request.username)
        guard let type = AccountType(rawValue: request.accountType) else {
            throw FieldProblem(pointer: "/account_type", rule: .accountType)
        }
        self.details = UserDetails(
            identity: try IdentityDetails(type, kyc: request.kycDetails, kyb: request.kybDetails, today: today),
            contact: try request.contactDetails?.checked()
        )
    }
}
