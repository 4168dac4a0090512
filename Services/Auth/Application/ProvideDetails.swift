import Contracts
import Messaging
import Primitives
import Sealing

/// Completes or corrects what the provider needs.
struct ProvideDetails: Sendable {
    let users: UserStore
    let vault: KeyVault
    let index: BlindIndex

    /// Replaces what the request has and keeps the rest.
    ///
    /// `today` is the day in Lagos.
    /// - Throws: `FieldProblem`; `AuthError.notOnboarded`, `alreadyVerified`, `identityInUse` or `erased`.
    func callAsFunction(
        _ request: OnboardingDetailsRequest,
        user id: UserID,
        today: CivilDate,
        in transaction: EventTransaction
    ) async throws -> OnboardingResponse {
        let user = try await self.users.lock(id, in: transaction)
        guard user.verification.value != .approved else { throw AuthError.alreadyVerified }
        let key = try await self.vault.open(id, in: transaction)
        let details = UserDetails(
            identity: try self.identity(request, of: user, key: key, today: today),
            contact: try request.contactDetails.checked()
        )
        let sealed = try key.seal(details, of: id)
        guard let contact = sealed.contact else { throw AuthError.erased }
        try await self.users.update(
            id,
            details: sealed,
            marks: IdentityMarks(details.identity, self.index),
            status: details.status,
            in: transaction
        )
        try await transaction.publish(
            UserDetailsProvided(
                userID: id.uuid,
                accountType: Open(user.accountType),
                kycDetails: sealed.kyc,
                kybDetails: sealed.kyb,
                contactDetails: contact
            ),
            about: id
        )
        try await self.users.markDetailsPublished(id, in: transaction)
        return OnboardingResponse(userID: id.uuid, username: user.username, status: details.status.rawValue)
    }

    private func identity(
        _ request: OnboardingDetailsRequest,
        of user: User,
        key: DataKey,
        today: CivilDate
    ) throws -> IdentityDetails {
        var kyc = request.kycDetails
        var kyb = request.kybDetails
        if kyc == nil, user.accountType == .personal, let known = user.details.kyc {
            kyc = try key.open(known, as: KYCDetails.self, field: DetailField.kyc, of: user.id)
        }
        if kyb == nil, user.accountType == .merchant, let known = user.details.kyb {
            kyb = try key.open(known, as: KYBDetails.self, field: DetailField.kyb, of: user.id)
        }
        return try IdentityDetails(user.accountType, kyc: kyc, kyb: kyb, today: today)
    }
}
