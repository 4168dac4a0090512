import Foundation
import Primitives

/// One side effect, for tests to compare with ours.
struct LogEntry: Sendable {
    enum Kind: String, Sendable {
        case customer
        case verification
        case document
        case account
        case counterparty
        case counterpartyRemoved = "counterparty_removed"
        case transferAccepted = "transfer_accepted"
        case transferSettled = "transfer_settled"
        case inbound
        case inboundSettled = "inbound_settled"
        case bill
        case webhook
    }

    var kind: Kind
    var id: String
    var at: Int64
    var reference: String?
    var amount: Int64?
    var sourceID: String?
    var destinationID: String?
    var status: String?

    func json(sequence: Int) -> JSON {
        var members: [String: JSON] = [
            "seq": .integer(Int64(sequence)),
            "type": .string(self.kind.rawValue),
            "id": .string(self.id),
            "at": .string(Timestamp.text(Date(millisecondsSince1970: self.at))),
        ]
        if let reference = self.reference { members["reference"] = .string(reference) }
        if let amount = self.amount { members["amount"] = .integer(amount) }
        if let sourceID = self.sourceID { members["source"] = .string(sourceID) }
        if let destinationID = self.destinationID { members["destination"] = .string(destinationID) }
        if let status = self.status { members["status"] = .string(status) }
        return .object(members)
    }
}
