import Contracts
import Messaging
import Primitives
import Sealing
import ServiceKit

/// Finds out what the details of a sign-up are worth: whether its address is proven, who comes back, and who may not.
///
/// What decides is what the identity provider has verified. An address that somebody only wrote down bars nobody, and no
/// answer tells whose it is.
struct CheckIdentity: Sendable {
    /// What was found out.
    struct Finding: Sendable {
        let identity: IdentityMarks
        let marks: MarkStore.Marks
        /// Whose closed profile this person had.
        let formerSelf: UserID?
    }

    let index: BlindIndex
    var signIns = SignInStore()
    var marks = MarkStore()

    /// Looks at details that are about to be stored.
    ///
    /// - Throws: `AuthError.signInDeleted`, `signUpRefused`; `identityInUse` also for a BVN or registration of somebody who
    ///   may not come back: who asks with the number of another learns nothing.
    func callAsFunction(
        _ details: UserDetails,
        user: UserID,
        clerkSubject: String,
        contact: VerifiedContact,
        in transaction: EventTransaction
    ) async throws -> Finding {
        if !contact.isEmpty {
            try await self.signIns.note(
                VerifiedMarks.all(of: contact, self.index),
                claimedAt: contact.saidAt,
                subject: clerkSubject,
                user: user,
                in: transaction
            )
        }
        let signIn = try await self.signIns.find(user, in: transaction)
        guard !signIn.isDeleted else { throw AuthError.signInDeleted }
        let identity = IdentityMarks(details.identity, self.index)
        try await self.refuseBarred(identity, signIn, in: transaction)
        let email = details.contact.map { VerifiedMarks.email($0.email, self.index) }
        return Finding(
            identity: identity,
            marks: MarkStore.Marks(
                email: email,
                isEmailProven: email.map(signIn.verified.contains) ?? false,
                person: details.isComplete ? identity.person : nil
            ),
            formerSelf: details.isComplete
                ? try await self.marks.formerSelf(identity.person, verified: signIn.verified, in: transaction) : nil
        )
    }

    private func refuseBarred(
        _ identity: IdentityMarks,
        _ signIn: SignIn,
        in transaction: EventTransaction
    ) async throws {
        if try await self.marks.isBarred(signIn.verified, in: transaction) { throw AuthError.signUpRefused }
        if let bvn = identity.bvn, try await self.marks.isBarred([bvn], in: transaction) {
            throw AuthError.identityInUse(pointer: identity.bvnPointer)
        }
        if let number = identity.registration, try await self.marks.isBarred([number], in: transaction) {
            throw AuthError.identityInUse(pointer: IdentityMarks.registrationPointer)
        }
    }
}
