import Contracts
import Foundation
import Primitives

extension WalletCredited {
    /// What others hear of a credit.
    init(_ credit: Credit, paymentID: UUID) {
        self.init(
            userID: credit.user.uuid,
            paymentID: paymentID,
            providerPaymentID: credit.providerPaymentID,
            anchorAccountID: credit.anchorAccountID,
            amount: credit.amount.kobo,
            reference: credit.reference,
            timestamp: Timestamp.text(credit.paidAt)
        )
    }
}
