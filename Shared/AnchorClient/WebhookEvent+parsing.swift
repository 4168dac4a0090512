import Foundation
import Primitives

extension WebhookEvent {
    /// Reads an event from the (decompressed) body of a webhook, with or without the `data` wrapper.
    ///
    /// An unknown name or a known one without the ids it needs is an event with the fact `other`.
    public init(parsing body: some Sequence<UInt8>) throws(WebhookEventError) {
        guard let message = try? JSONDecoder().decode(Message.self, from: Data(body)) else {
            throw WebhookEventError(description: "not a webhook event")
        }
        let content = message.content
        guard let id = idOnly(content.id), let type = idOnly(content.type) else {
            throw WebhookEventError(description: "webhook event without id or type")
        }
        self.init(
            id: id,
            type: type,
            createdAt: content.attributes?.createdAt.flatMap { Timestamp.parse($0) },
            fact: message.fact(of: type)
        )
    }
}

private struct Message: Decodable {
    struct Content: Decodable {
        var id: String?
        var type: String?
        var attributes: Attributes?
        var relationships: Relationships?
    }

    struct Attributes: Decodable {
        private enum Key: CodingKey {
            case createdAt
            case failureReason
            case payment
            case amount
        }

        var createdAt: String?
        var failureReason: String?
        var payment: Payment?
        var amount: Money?

        /// Attributes differ by event and are not documented in full: what does not fit is absent.
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            self.createdAt = try? container.decode(String.self, forKey: .createdAt)
            self.failureReason = try? container.decode(String.self, forKey: .failureReason)
            self.payment = try? container.decode(Payment.self, forKey: .payment)
            self.amount = try? container.decode(Money.self, forKey: .amount)
        }
    }

    struct Payment: Decodable {
        struct Account: Decodable {
            var accountId: String?
        }

        var paymentId: String?
        var amount: Money?
        var settlementAccount: Account?
        var virtualNuban: Account?
    }

    struct IncludedTransfer: Decodable {
        struct Attributes: Decodable {
            var reference: String?
        }

        var id: String?
        var attributes: Attributes?
    }

    private enum Key: CodingKey {
        case data
        case included
    }

    var content: Content
    var included: [IncludedTransfer]

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        if container.contains(.data) {
            self.content = try container.decode(Content.self, forKey: .data)
        } else {
            self.content = try Content(from: decoder)
        }
        self.included = (try? container.decode([IncludedTransfer].self, forKey: .included)) ?? []
    }
}

extension Message {
    func fact(of type: String) -> WebhookEvent.Fact {
        let words = type.split(separator: ".").map(String.init)
        switch words.first {
        case "nip" where words.count == 3 && words[1] == "transfer": return self.transfer(.nip, words[2])
        case "book" where words.count == 3 && words[1] == "transfer": return self.transfer(.book, words[2])
        case "nip" where words.count == 3 && words[1] == "inbound": return self.payment(words[2])
        case "payment" where words.count == 2: return self.payment(words[1])
        case "customer" where words.count == 3 && words[1] == "identification": return self.identification(words[2])
        case "document" where type == "document.rejected":
            let links = self.content.relationships
            return (links?.id("customer") ?? links?.id(ofKind: "_cst")).map { .documentRejected(customerID: $0) }
                ?? .other
        default: return self.account(type)
        }
    }

    private func transfer(_ rail: TransferRail, _ word: String) -> WebhookEvent.Fact {
        let links = self.content.relationships
        guard let outcome = WebhookEvent.TransferOutcome(rawValue: word),
            let id = links?.id("transfer") ?? links?.id(ofKind: "-anc_trsf")
        else { return .other }
        return .transfer(
            WebhookEvent.TransferFact(
                transferID: id,
                reference: idOnly(self.included.first { $0.id == id }?.attributes?.reference),
                rail: rail,
                outcome: outcome,
                failureReason: codeOnly(self.content.attributes?.failureReason)
            )
        )
    }

    private func payment(_ word: String) -> WebhookEvent.Fact {
        let links = self.content.relationships
        let inline = self.content.attributes?.payment
        let linked = links?.id(ofKind: "-anc_inb_trsf") ?? links?.id(ofKind: "-anc_py")
        guard ["received", "settled", "completed"].contains(word), let id = idOnly(inline?.paymentId) ?? linked else {
            return .other
        }
        let account = links?.id("account", "settlementAccount", "depositAccount")
        return .payment(
            WebhookEvent.PaymentFact(
                paymentID: id,
                accountID: idOnly(inline?.settlementAccount?.accountId) ?? account
                    ?? idOnly(inline?.virtualNuban?.accountId),
                amount: inline?.amount ?? self.content.attributes?.amount,
                isSettled: word != "received"
            )
        )
    }

    private func identification(_ word: String) -> WebhookEvent.Fact {
        let links = self.content.relationships
        guard let outcome = WebhookEvent.IdentificationOutcome(rawValue: word),
            let id = links?.id("customer", "resource") ?? links?.id(ofKind: "_cst")
        else { return .other }
        return .identification(customerID: id, outcome)
    }

    private func account(_ type: String) -> WebhookEvent.Fact {
        let links = self.content.relationships
        guard let id = links?.id("account", "depositAccount") ?? links?.id(ofKind: "-anc_acc") else { return .other }
        let customer = links?.id("customer")
        switch type {
        case "account.opened": return .accountOpened(accountID: id, customerID: customer)
        case "accountNumber.created": return .accountNumberCreated(accountID: id, customerID: customer)
        default: return .other
        }
    }
}
