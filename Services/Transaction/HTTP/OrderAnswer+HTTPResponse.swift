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
    fileprivate func response() throws -> APIResponse {
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
