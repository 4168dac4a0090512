extension SandboxState {
    /// Registers a bank account; the same one again is the existing one.
    mutating func createCounterparty(_ body: [UInt8]) throws(Refusal) -> Counterparty {
        let document = try Document(body)
        guard document.type == "CounterParty" else { throw .badRequest("data.type must be CounterParty") }
        let fields = document.attributes
        let bank = try self.bank(of: document)
        let number = try fields.digits("accountNumber", count: 10)
        var name = try fields.text("accountName")
        if fields.json["verifyName"]?.flag == true {
            guard let verified = self.holder(of: number) else {
                throw .badRequest("Account could not be verified")
            }
            name = verified
        }
        if let existing = self.counterpartyByKey["\(bank.nipCode)/\(number)"].flatMap({ self.counterparties[$0] }) {
            return existing
        }
        let counterparty = Counterparty(
            id: self.newID("anc_cp"),
            bankCode: bank.nipCode,
            accountName: name,
            accountNumber: number,
            createdAt: self.now
        )
        self.record(.counterparty(counterparty))
        return counterparty
    }

    /// The name a bank gives for a number; nil where there is no account.
    func holder(of number: String) -> String? { self.holders[number] ?? SandboxBank.accountName(of: number) }

    private func bank(of document: Document) throws(Refusal) -> SandboxBank {
        let linked = document.relationships.json["bank"]?["data"]?["id"]?.text
        guard let code = document.attributes.json["bankCode"]?.text ?? linked else {
            throw .badRequest("bankCode must not be blank")
        }
        guard let bank = SandboxBank.find(code) else { throw .notFound("Bank") }
        return bank
    }

    /// Removes a bank account.
    mutating func removeCounterparty(id: String) throws(Refusal) {
        guard let counterparty = self.counterparties[id], !counterparty.isRemoved else {
            throw .notFound("CounterParty")
        }
        self.record(.counterpartyRemoved(id: id))
    }
}
