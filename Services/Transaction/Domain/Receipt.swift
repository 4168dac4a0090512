import Foundation
import Primitives

/// What a receipt says, line by line.
struct Receipt: Sendable {
    let row: TransferRow
    let reference: String
    /// By which banks find it; only of a transfer by NIP.
    let session: String?
    let viewer: UUID
    let names: [UUID: String]
    let description: String?

    /// Fee and duty are the payer's business alone.
    func fields() throws(MoneyOverflow) -> [(label: String, value: String)] {
        let amount = Money(kobo: self.row.amount)
        var fields = [("Amount", amount.nairaText)]
        if self.row.sender == self.viewer {
            let (fee, duty) = (Money(kobo: self.row.fee), Money(kobo: self.row.duty))
            fields += [("Fee", fee.nairaText), ("Stamp duty", duty.nairaText)]
            fields.append(("Total", try amount.adding(fee).adding(duty).nairaText))
        }
        fields += [("State", Self.state(self.row.state)), ("Kind", self.kind)]
        fields += [("From", self.from), ("To", self.to)]
        if let description { fields.append(("Description", description)) }
        fields.append(("Ordered", LagosTime.text(self.row.createdAt)))
        if let end = self.row.endedAt { fields.append((Self.end(self.row.state), LagosTime.text(end))) }
        if let reason = self.row.failureReason { fields.append(("Reason", Self.words(reason))) }
        fields.append(("Reference", self.reference))
        if let session { fields.append(("Session id", session)) }
        fields.append(("Transaction", self.row.id.lowercased))
        return fields
    }

    private var kind: String {
        switch self.row.type {
        case "p2p": self.row.route == "external" ? "Payment to a bank account" : "Payment to a wallet"
        case "self_transfer": "Withdrawal to a bank account"
        case "money_drop": "Money drop"
        case "drop_claim": "Claim of a money drop"
        case "drop_refund": "Return of a money drop"
        case "subscription_charge": "Subscription"
        case "inbound": "Bank transfer received"
        case "release": "Payment returned"
        default: Self.words(self.row.type)
        }
    }

    private var from: String {
        switch self.row.type {
        case "drop_claim", "drop_refund": "A money drop"
        case "inbound": "Outside Transfa"
        default: self.name(self.row.sender)
        }
    }

    private var to: String {
        switch self.row.type {
        case "self_transfer": "Own bank account"
        case "money_drop": "A money drop"
        case "subscription_charge": "Transfa"
        default: self.name(self.row.recipient)
        }
    }

    private func name(_ user: UUID?) -> String { user.flatMap { self.names[$0] }.map { "@\($0)" } ?? "A former user" }

    private static func state(_ state: String) -> String {
        switch state {
        case "accepted", "submitted": "Under way"
        case "unknown": "Being confirmed"
        case "in_suspense": "Waiting to be released"
        default: Self.words(state)
        }
    }

    private static func end(_ state: String) -> String {
        switch state {
        case "failed": "Failed"
        case "reversed": "Returned"
        default: "Completed"
        }
    }

    /// `no_answer` reads "No answer".
    private static func words(_ code: String) -> String {
        let words = code.replacing("_", with: " ").lowercased()
        return words.prefix(1).uppercased() + words.dropFirst()
    }
}
