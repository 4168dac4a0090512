import Contracts
import Messaging
import Primitives
import Sealing

/// Gives a token that approves one request; the PIN was checked before.
struct IssueApproval: Sendable {
    let database: EventDatabase
    let signer: ApprovalSigner
    let vault: KeyVault

    /// The field of the seal of a token.
    static let tokenField = "approval.token"

    /// Issues a token and seals it, as it may be kept under an idempotency key.
    ///
    /// - Throws: `AuthError.keyNotFound` or `erased`.
    func callAsFunction(
        _ scope: ApprovalScope,
        user: UserID,
        in transaction: EventTransaction
    ) async throws -> ApprovalResponse {
        let key = try await self.vault.open(user, in: transaction)
        let nonce = transaction.makeID()
        let claims = ApprovalClaims(scope, user: user, nonce: nonce, at: transaction.now)
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
