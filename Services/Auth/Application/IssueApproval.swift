import Contracts
import Messaging
import Primitives
import Sealing

/// Gives a token that approves one request; the PIN was checked before.
struct IssueApproval: Sendable {
    let database: EventDatabase
    let pins: PINStore
    let sessions: SessionStore
    let signer: ApprovalSigner
    let vault: KeyVault

    /// The field of the seal of a token.
    static let tokenField = "approval.token"

    /// Issues a token and seals it, as it may be kept under an idempotency key.
    ///
    /// `hash` is the one that the PIN was right for: of a PIN that was replaced since nothing is approved, and what ends
    /// tokens locks the same row, so the sequence in the token is from before or after it as the PIN is.
    ///
    /// - Throws: `AuthError.keyNotFound`, `erased`, `pinChanged` or `sessionEnded`.
    func callAsFunction(
        _ scope: ApprovalScope,
        _ hash: String,
        user: UserID,
        session: String,
        in transaction: EventTransaction
    ) async throws -> ApprovalResponse {
        guard try await self.pins.lock(user, in: transaction)?.hash == hash else { throw AuthError.pinChanged }
        guard try await !self.sessions.hasEnded(session, of: user, in: transaction) else {
            throw AuthError.sessionEnded
        }
        let giver = ApprovalClaims.Giver(
            user: user,
            session: session,
            sequence: try await self.sessions.newestEvent(about: user, in: transaction)
        )
        let key = try await self.vault.open(user, in: transaction)
        let nonce = transaction.makeID()
        let claims = ApprovalClaims(scope, by: giver, nonce: nonce, at: transaction.now)
        let token = try await self.signer.token(claims)
        return ApprovalResponse(
            approvalToken: try SealedField.seal(token, key: key, context: Self.context(user)).text,
            nonce: nonce,
            expiresAt: Timestamp.text(claims.expiry)
        )
    }

    /// An approval that was kept, as its user gets it.
    ///
    /// - Throws: `AuthError.keyNotFound` or `erased`: then nobody can open it any more.
    func opened(_ kept: ApprovalResponse, of user: UserID) async throws -> ApprovalResponse {
        let key = try await self.vault.open(user, as: user, on: self.database)
        var approval = kept
        approval.approvalToken = try SealedField(text: kept.approvalToken).open(key: key, context: Self.context(user))
        return approval
    }

    private static func context(_ user: UserID) -> SealContext {
        SealContext(user: user.uuid, field: Self.tokenField)
    }
}
