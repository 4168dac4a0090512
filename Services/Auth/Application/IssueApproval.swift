import Contracts
import Messaging
import Primitives

/// Gives a token that approves one request, for a right PIN.
struct IssueApproval: Sendable {
    let check: CheckPIN
    let signer: ApprovalSigner
    let clock: any TimeSource
    let ids: any IdentifierSource

    /// Issues the token.
    ///
    /// - Throws: What checking the PIN throws.
    func callAsFunction(
        _ scope: ApprovalScope,
        pin: PIN,
        user: UserID,
        cause: Cause
    ) async throws -> ApprovalResponse {
        try await self.check(pin, of: user, cause: cause)
        let nonce = self.ids.next()
        let claims = ApprovalClaims(scope, user: user, nonce: nonce, at: self.clock.now)
        return ApprovalResponse(
            approvalToken: try await self.signer.token(claims),
            nonce: nonce,
            expiresAt: Timestamp.text(claims.expiry)
        )
    }
}
