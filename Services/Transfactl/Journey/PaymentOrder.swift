import Contracts
import Foundation
import Primitives

/// A payment to ask for, under a key of its own.
struct PaymentOrder {
    static let path = "/transactions/p2p"

    /// The request, which still lacks its approval.
    let call: Call

    init(to username: String, amount: Int64, description: String?, key: String) throws(Failure) {
        let body = P2PRequest(recipientUsername: username, amount: amount, description: description)
        self.call = try Call.post(.service(.transaction), Self.path, body).adding("Idempotency-Key", key)
    }

    init(from payer: Person, to payee: Person, description: String) throws(Failure) {
        try self.init(
            to: payee.username,
            amount: Journey.amount,
            description: description,
            key: "journey-\(payer.name)-\(UUID().lowercased)"
        )
    }
}
