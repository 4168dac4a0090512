import Contracts
import Messaging
import Primitives

/// Passes on that the address which a user has given was verified: until then the provider has a stand-in for it.
struct ProveContact: Sendable {
    let users: UserStore
    var signIns = SignInStore()
    var marks = MarkStore()

    /// Looks whether it is; once more, or for nobody, changes nothing.
    func callAsFunction(_ user: UserID, in transaction: EventTransaction) async throws {
        let signIn = try await self.signIns.find(user, in: transaction)
        guard !signIn.isDeleted, try await self.marks.prove(signIn.verified, of: user, in: transaction) else { return }
        // What the provider has verified stays there as it is.
        guard let known = try await self.users.lockIfThere(user, in: transaction),
            known.verification.value != .approved, let contact = known.details.contact
        else { return }
        try await transaction.publish(
            UserDetailsProvided(
                userID: user.uuid,
                accountType: Open(known.accountType),
                kycDetails: known.details.kyc,
                kybDetails: known.details.kyb,
                contactDetails: contact,
                emailVerified: true
            ),
            about: user
        )
        try await self.users.markDetailsPublished(user, in: transaction)
    }
}
