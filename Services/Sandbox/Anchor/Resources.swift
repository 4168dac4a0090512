/// The records as the provider shows them.
func resource(
    _ id: String,
    _ type: String,
    _ attributes: [String: JSON],
    _ relationships: [String: JSON] = [:]
) -> JSON {
    [
        "id": .string(id), "type": .string(type), "attributes": .object(attributes),
        "relationships": .object(relationships),
    ]
}

extension SandboxBank {
    var json: JSON {
        resource(self.id, "Bank", ["name": .string(self.name), "nipCode": .string(self.nipCode), "cbnCode": ""])
    }

    /// As it stands inside other resources.
    var inline: JSON {
        ["id": .string(self.id), "name": .string(self.name), "nipCode": .string(self.nipCode), "cbnCode": ""]
    }
}

extension Customer {
    var json: JSON {
        var attributes = JSON(parsing: self.attributes.utf8)?.members ?? [:]
        attributes.removeValue(forKey: "identificationLevel2")
        attributes["createdAt"] = wireDate(self.createdAt)
        attributes["soleProprietor"] = false
        attributes["status"] = "ACTIVE"
        attributes["verification"] = ["status": .string(self.verification), "level": "TIER_2"]
        if let detail = attributes.removeValue(forKey: "basicDetail") { attributes["detail"] = detail }
        return resource(
            self.id,
            self.type,
            attributes,
            ["documents": ["data": []], "organization": .link("1600000000000-anc_og", "Organization")]
        )
    }
}

extension SandboxState {
    func resource(_ account: Account) -> JSON {
        var relationships: [String: JSON] = [:]
        if let customer = account.customerID.flatMap({ self.customers[$0] }) {
            relationships["customer"] = .link(customer.id, customer.type)
        }
        return SandboxService.resource(
            account.id,
            "DepositAccount",
            [
                "createdAt": wireDate(account.createdAt), "bank": SandboxBank.own.inline,
                "accountName": .string(account.name), "frozen": .bool(account.isFrozen), "currency": "NGN",
                "accountNumber": .string("******" + account.number.suffix(4)), "type": .string(account.product),
                "status": "ACTIVE",
            ],
            relationships
        )
    }

    /// The number's own resource; nil until it is assigned.
    func numberResource(_ account: Account) -> JSON? {
        guard account.isNumbered else { return nil }
        var relationships: [String: JSON] = ["settlementAccount": .link(account.id, "DepositAccount")]
        if let customer = account.customerID.flatMap({ self.customers[$0] }) {
            relationships["customer"] = .link(customer.id, customer.type)
        }
        return SandboxService.resource(
            account.numberID,
            "AccountNumber",
            [
                "createdAt": wireDate(account.createdAt), "bank": SandboxBank.own.inline, "isDefault": true,
                "accountName": .string(account.name), "permanent": true, "currency": "NGN",
                "accountNumber": .string(account.number), "status": "ACTIVE",
            ],
            relationships
        )
    }

    func resource(_ transfer: Transfer) -> JSON {
        var attributes: [String: JSON] = [
            "reference": .string(transfer.reference), "createdAt": wireDate(transfer.createdAt),
            "reason": .string(transfer.reason), "amount": .integer(transfer.amount), "currency": "NGN",
            "status": .string(transfer.status.rawValue), "metadata": JSON(transfer.metadata),
        ]
        if let reason = transfer.failureReason { attributes["failureReason"] = .string(reason) }
        if transfer.rail == .nip { attributes["sessionId"] = .string(transfer.sessionID) }
        var relationships: [String: JSON] = ["account": .link(transfer.sourceID, "DepositAccount")]
        if transfer.rail == .nip {
            relationships["counterParty"] = .link(transfer.destinationID, "CounterParty")
        } else {
            relationships["destinationAccount"] = .link(transfer.destinationID, "DepositAccount")
        }
        if let customer = self.accounts[transfer.sourceID]?.customerID.flatMap({ self.customers[$0] }) {
            relationships["customer"] = .link(customer.id, customer.type)
        }
        return SandboxService.resource(transfer.id, transfer.responseType, attributes, relationships)
    }
}

extension SandboxBank {
    /// The bank that holds the organisation's accounts.
    static let own = SandboxBank.all[SandboxBank.all.count - 1]
}

extension Transfer {
    /// Unlike the type in requests.
    var responseType: String { self.rail == .nip ? "NIP_TRANSFER" : "BOOK_TRANSFER" }

    /// 30 digits.
    var sessionID: String {
        let digits = self.id.prefix { $0 != "-" }
        return String(repeating: "0", count: max(0, 30 - digits.count)) + digits
    }
}

extension Counterparty {
    var json: JSON {
        resource(
            self.id,
            "CounterParty",
            [
                "createdAt": wireDate(self.createdAt), "bank": SandboxBank.find(self.bankCode)?.inline ?? .null,
                "accountName": .string(self.accountName), "accountNumber": .string(self.accountNumber),
                "status": "ACTIVE",
            ]
        )
    }
}

extension InboundPayment {
    private var account: [String: JSON] { ["account": .link(self.accountID, "DepositAccount")] }

    /// As an inbound NIP transfer.
    var transferJSON: JSON {
        resource(
            self.id,
            "InboundNIPTransfer",
            [
                "reference": .string(self.reference), "createdAt": wireDate(self.createdAt),
                "updatedAt": wireDate(self.createdAt), "amount": .integer(self.amount),
                "description": .string(self.narration), "currency": "NGN",
                "sourceAccountNumber": .string(self.payerNumber), "sourceAccountName": .string(self.payerName),
                "sourceBank": ["name": .string(SandboxBank.all[0].name)],
                "status": self.isSettled ? "COMPLETED" : "PENDING",
            ],
            self.account
        )
    }

    /// As a payment, under the id it was asked for by.
    func paymentJSON(id: String) -> JSON {
        resource(
            id,
            "Payment",
            [
                "createdAt": wireDate(self.createdAt), "amount": .integer(self.amount), "fee": 0,
                "paymentReference": .string(self.reference), "narration": .string(self.narration),
                "paidAt": wireDate(self.createdAt), "currency": "NGN", "type": "BankTransfer",
                "counterParty": [
                    "accountNumber": .string(self.payerNumber), "accountName": .string(self.payerName),
                    "bank": ["name": .string(SandboxBank.all[0].name)],
                ],
            ],
            ["settlementAccount": .link(self.accountID, "DepositAccount")]
        )
    }
}

extension SandboxState.Row {
    var json: JSON {
        var attributes: [String: JSON] = [
            "createdAt": wireDate(self.createdAt), "amount": .integer(self.amount), "currency": "NGN",
            "direction": self.isCredit ? "CREDIT" : "DEBIT", "reference": .string(self.reference),
            "narration": .string(self.narration),
        ]
        if let feeType = self.feeType { attributes["feeType"] = .string(feeType) }
        return resource(self.id, "Transaction", attributes)
    }
}
