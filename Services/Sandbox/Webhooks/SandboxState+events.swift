import Foundation
import Primitives

extension JSON {
    /// A relationship to one resource.
    static func link(_ id: String, _ type: String) -> JSON { ["data": ["id": .string(id), "type": .string(type)]] }
}

/// A date in the provider's form: without a zone.
func wireDate(_ milliseconds: Int64) -> JSON {
    .string(String(Timestamp.text(Date(millisecondsSince1970: milliseconds)).dropLast()))
}

extension SandboxState {
    /// Makes an event and plans its delivery, unless a switch says that it is lost.
    mutating func emit(
        _ type: String,
        about subject: String,
        _ relationships: [String: JSON],
        attributes: [String: JSON] = [:],
        included: JSON? = nil,
        isWrapped: Bool? = nil
    ) {
        let id = self.newID("anc_et")
        var attributes = attributes
        attributes["createdAt"] = wireDate(self.now)
        let content: JSON = [
            "id": .string(id), "type": .string(type), "attributes": .object(attributes),
            "relationships": .object(relationships),
        ]
        let event = Event(
            id: id,
            type: type,
            content: String(decoding: content.bytes, as: UTF8.self),
            included: included.map { String(decoding: $0.bytes, as: UTF8.self) },
            isWrapped: isWrapped,
            subject: subject,
            createdAt: self.now
        )
        self.record(.event(event))
        self.plan(event)
    }

    private mutating func plan(_ event: Event) {
        let number = self.eventCount
        let every = self.switches.webhookLoseEvery
        let isLost =
            self.target == nil || !self.switches.webhooksEnabled || (every > 0 && number.isMultiple(of: every))
            || self.switches.webhookLoseTypes.contains(event.type)
        guard !isLost else {
            self.record(.eventEnded(id: event.id, attempts: 0, isDelivered: false, at: self.now))
            return
        }
        let extra = number.isMultiple(of: 2) ? 0 : self.switches.webhookReorderMs
        for _ in 0..<max(1, self.switches.webhookCopies) {
            self.follow(after: self.switches.webhookDelayMs + extra, .deliver(event))
        }
    }

    mutating func emit(_ type: String, _ transfer: Transfer) {
        var relationships: [String: JSON] = [
            "transfer": .link(transfer.id, transfer.responseType),
            "account": .link(transfer.sourceID, "DepositAccount"),
        ]
        relationships[transfer.rail == .nip ? "counterParty" : "destinationAccount"] = .link(
            transfer.destinationID,
            transfer.rail == .nip ? "CounterParty" : "DepositAccount"
        )
        if let customer = self.accounts[transfer.sourceID]?.customerID.flatMap({ self.customers[$0] }) {
            relationships["customer"] = .link(customer.id, customer.type)
        }
        var attributes: [String: JSON] = [:]
        if let reason = transfer.failureReason { attributes["failureReason"] = .string(reason) }
        if transfer.status == .completed, transfer.rail == .nip {
            attributes["sessionId"] = .string(transfer.sessionID)
        }
        let included: JSON? = self.target?.includesRelated == true ? .array([self.resource(transfer)]) : nil
        self.emit(type, about: transfer.id, relationships, attributes: attributes, included: included)
    }

    mutating func emit(_ type: String, _ payment: InboundPayment) {
        let customer = self.accounts[payment.accountID]?.customerID.flatMap { self.customers[$0] }
        guard type.hasPrefix("payment.") else {
            var relationships: [String: JSON] = [
                "inboundTransfer": .link(payment.id, "InboundNIPTransfer"),
                "account": .link(payment.accountID, "DepositAccount"),
            ]
            if let customer { relationships["customer"] = .link(customer.id, customer.type) }
            self.emit(type, about: payment.id, relationships, isWrapped: payment.isWrapped)
            return
        }
        let inline: JSON = [
            "paymentId": .string(payment.events == .twin ? payment.twinID : payment.id),
            "paymentReference": .string(payment.reference),
            "amount": .integer(payment.amount), "fee": 0, "currency": "NGN", "type": "BankTransfer",
            "narration": .string(payment.narration), "createdAt": wireDate(payment.createdAt),
            "paidAt": wireDate(payment.createdAt), "settlementAccount": ["accountId": .string(payment.accountID)],
            "counterParty": [
                "accountName": .string(payment.payerName), "accountNumber": .string(payment.payerNumber),
                "bank": ["name": .string(SandboxBank.all[0].name)],
            ],
        ]
        var relationships: [String: JSON] = [:]
        if let customer { relationships["customer"] = .link(customer.id, customer.type) }
        self.emit(
            type,
            about: payment.id,
            relationships,
            attributes: ["payment": inline],
            isWrapped: payment.isWrapped
        )
    }
}
