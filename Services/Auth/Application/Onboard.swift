import Contracts
import Messaging
import Primitives
import Sealing
import ServiceKit

/// Completes sign-up: the user, the user's data key and `user.created` in one commit.
struct Onboard: Sendable {
    let users: UserStore
    let vault: KeyVault
    let index: BlindIndex
    var marks = MarkStore()

    private var checkIdentity: CheckIdentity { CheckIdentity(index: self.index, marks: self.marks) }

    /// Adds the user.
    ///
    /// `contact` is what the identity provider has verified.
    /// - Throws: `AuthError.alreadyOnboarded`, `usernameTaken`, `identityInUse`, `signInDeleted`, `signUpRefused`.
    func callAsFunction(
        _ signUp: SignUp,
        user id: UserID,
        clerkSubject: String,
        contact: VerifiedContact = VerifiedContact(),
        in transaction: EventTransaction
    ) async throws -> OnboardingResponse {
        try await self.users.lockSignUp(id, in: transaction)
        guard try await !self.users.isKnown(id, in: transaction) else { throw AuthError.alreadyOnboarded }
        let found = try await self.checkIdentity(
            signUp.details,
            user: id,
            clerkSubject: clerkSubject,
            contact: contact,
            in: transaction
        )
        let key = DataKey()
        let user = User(
            id: id,
            username: signUp.username.text,
            accountType: signUp.details.identity.accountType,
            status: signUp.details.status,
            verification: Open(.pending),
            details: try key.seal(signUp.details, of: id)
        )
        try await self.users.insert(
            user,
            marks: found.identity,
            clerkSubject: clerkSubject,
            in: transaction
        )
        try await self.marks.set(found.marks, of: id, in: transaction)
        try await self.vault.store(key, for: id, in: transaction)
        try await transaction.publish(
            UserCreated(
                userID: id.uuid,
                username: user.username,
                accountType: Open(user.accountType),
                kycDetails: user.details.kyc,
                kybDetails: user.details.kyb,
                contactDetails: user.details.contact,
                emailVerified: found.marks.isEmailProven,
                succeeds: found.formerSelf?.uuid
            ),
            about: id
        )
        try await self.users.markDetailsPublished(id, in: transaction)
        return OnboardingResponse(userID: id.uuid, username: user.username, status: user.status.rawValue)
    }
}
