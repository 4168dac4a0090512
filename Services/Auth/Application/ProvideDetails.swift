import Contracts
import Messaging
import Primitives
import Sealing
import ServiceKit

/// Completes or corrects what the provider needs.
struct ProvideDetails: Sendable {
    let users: UserStore
    let vault: KeyVault
    let index: BlindIndex
    var marks = MarkStore()

    private var checkIdentity: CheckIdentity { CheckIdentity(index: self.index, marks: self.marks) }

    /// Replaces what the request has and keeps the rest.
    ///
    /// `today` is the day in Lagos; `clerkSubject` and `contact` are who asks, and what was verified there.
    /// - Throws: `FieldProblem`; `AuthError.notOnboarded`, `alreadyVerified`, `identityInUse`, `signInDeleted`,
    ///   `signUpRefused` or `erased`.
    func callAsFunction(
        _ request: OnboardingDetailsRequest,
        user id: UserID,
        clerkSubject: String,
        contact verified: VerifiedContact = VerifiedContact(),
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
        let found = try await self.checkIdentity(
            details,
            user: id,
            clerkSubject: clerkSubject,
            contact: verified,
            in: transaction
        )
        let sealed = try key.seal(details, of: id)
        guard let contact = sealed.contact else { throw AuthError.erased }
        try await self.users.update(
            id,
            details: sealed,
            marks: found.identity,
            status: details.status,
            in: transaction
        )
        try await self.marks.set(found.marks, of: id, in: transaction)
        try await transaction.publish(
            UserDetailsProvided(
                userID: id.uuid,
                accountType: Open(user.accountType),
                kycDetails: sealed.kyc,
                kybDetails: sealed.kyb,
                contactDetails: contact,
                emailVerified: found.marks.isEmailProven,
                succeeds: found.formerSelf?.uuid
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
