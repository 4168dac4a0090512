import Contracts
import Foundation
import Primitives

/// A payment to ask for, under a key of its own.
struct PaymentOrder {
    static let path = "/transactions/p2p"

    /// The request, which still lacks its approval.
    let call: Call

    init(from payer: Person, to payee: Person, description: String) throws(Failure) {
        let body = P2PRequest(
            recipientUsername: payee.username,
            amount: Journey.amount,
            description: description
        )
        self.call = try Call.post(.service(.transaction), Self.path, body)
            .adding("Idempotency-Key", "journey-\(payer.name)-\(UUID().lowercased)")
    }
}
