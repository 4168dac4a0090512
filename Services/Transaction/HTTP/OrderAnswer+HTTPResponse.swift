import Contracts
import HTTPTypes
import Primitives
import ServiceKit

extension OrderAnswer {
    /// 202 with the receipt and the place where it shows how it stands, or the refusal; marked when it was given before.
    func response() throws -> APIResponse {
        var response: APIResponse
        switch self.outcome {
        case .accepted(let receipt): response = try receipt.response()
        case .refused(let code):
            let error = OrderRefusal.apiError(of: code)
            guard ![.serviceUnavailable, .conflict].contains(error.status) else { throw error }
            response = APIResponse(error.status, body: error.body(requestID: nil))
        }
        if self.isRepeated { response.headers[.idempotencyReplayed] = "true" }
        return response
    }
}

extension OrderReceipt {
    /// In the version in which the order was answered: the same request gets the same bytes as long as the ledger stands.
    ///
    /// - Throws: `UnknownAnswerVersion`.
    fileprivate func response() throws -> APIResponse {
        switch self.version {
        case 1: return try self.firstVersion()
        default: throw UnknownAnswerVersion(version: self.version)
        }
    }

    /// The bytes that are kept in the folder Golden of the tests.
    ///
    /// When they are to be others, these bodies get a copy that stays as they are, and what is accepted from then on is
    /// of another version.
    private func firstVersion() throws -> APIResponse {
        let transaction = "/transactions/\(self.transaction.lowercased)"
        return switch self.target {
        case .recipient(let username):
            try .accepted(
                location: transaction,
                json: P2PResponse(
                    transactionID: self.transaction,
                    status: "accepted",
                    route: self.route,
                    amount: self.amount,
                    fee: self.fee,
                    duty: self.duty,
                    recipientUsername: username,
                    createdAt: Timestamp.text(self.createdAt)
                )
            )
        case .beneficiary(let account):
            try .accepted(
                location: transaction,
                json: SelfTransferResponse(
                    transactionID: self.transaction,
                    status: "accepted",
                    route: self.route,
                    amount: self.amount,
                    fee: self.fee,
                    duty: self.duty,
                    beneficiaryID: account,
                    createdAt: Timestamp.text(self.createdAt)
                )
            )
        case .moneyDrop(let drop):
            try .accepted(
                location: "/money-drops/\(drop.id.lowercased)",
                json: MoneyDropResponse(
                    transactionID: self.transaction,
                    status: "accepted",
                    route: self.route,
                    amount: self.amount,
                    fee: self.fee,
                    duty: self.duty,
                    moneyDropID: drop.id,
                    amountPerClaim: drop.amountPerClaim,
                    slots: drop.slots,
                    passwordRequired: drop.passwordRequired,
                    expiresAt: Timestamp.text(drop.expiresAt),
                    link: drop.link,
                    createdAt: Timestamp.text(self.createdAt)
                )
            )
        }
    }
}

/// An order was answered by a newer release, in a version that this one cannot write.
struct UnknownAnswerVersion: Error, Equatable {
    let version: Int16
}

extension UnknownAnswerVersion: APIErrorConvertible {
    /// 503: while releases stand side by side, another process knows.
    var apiError: APIError { .unavailable("answered_by_newer_release", retryAfter: 10) }
}
