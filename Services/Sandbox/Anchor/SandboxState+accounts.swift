extension SandboxState {
    /// Opens a deposit account or refuses.
    mutating func createAccount(_ body: [UInt8]) throws(Refusal) -> Account {
        let document = try Document(body)
        guard document.type == "DepositAccount" else { throw .badRequest("data.type must be DepositAccount") }
        let product = try document.attributes.text("productName")
        let link = try document.relationships.link("customer")
        guard let customer = self.customers[link.id] else { throw .notFound("Customer") }
        guard link.type == customer.type else { throw .badRequest("relationships.customer has the wrong type") }
        guard ["SAVINGS", "CURRENT"].contains(product) else {
            throw .badRequest("The product \(product) is not enabled in this organization")
        }
        guard product == (customer.isBusiness ? "CURRENT" : "SAVINGS") else {
            throw .badRequest("The product \(product) is not allowed for the selected customer type")
        }
        guard customer.verification == "approved" else {
            throw .precondition("Customer has not completed the required kyc level.")
        }
        let account = self.openAccount(name: customer.name, product: product, customerID: customer.id)
        self.emit("account.opened", about: customer.id, self.links(account))
        self.follow(after: self.switches.accountNumberDelayMs, .numberAccount(id: account.id))
        return account
    }

    /// Opens an account of the organisation itself, with its number at once.
    mutating func createOrganisationAccount(name: String, id: String?) throws(Refusal) -> Account {
        if let id, self.accounts[id] != nil { throw .conflict("An account with this id exists") }
        let account = self.openAccount(name: name, product: "FBO", customerID: nil, id: id)
        self.record(.accountNumbered(id: account.id))
        return account
    }

    /// Opens the account that bills are taken from.
    mutating func openFeeAccount(id: String?) -> String {
        let account = self.openAccount(name: Self.feeAccountName, product: "FBO", customerID: nil, id: id)
        self.record(.accountNumbered(id: account.id))
        return account.id
    }

    private mutating func openAccount(
        name: String,
        product: String,
        customerID: String?,
        id: String? = nil
    ) -> Account {
        let id = id ?? self.newID("anc_acc")
        // Ten digits that start with 9, so that they do not look like anybody's.
        let number = String(9_000_000_000 + Int64(self.accountOrder.count) + 1)
        let account = Account(
            id: id,
            customerID: customerID,
            name: name,
            product: product,
            number: number,
            createdAt: self.now
        )
        self.record(.account(account))
        return account
    }

    /// Assigns the number, some time after the opening.
    mutating func numberAccount(_ id: String) {
        guard let account = self.accounts[id], !account.isNumbered else { return }
        self.record(.accountNumbered(id: id))
        var links = self.links(account)
        links["accountNumber"] = .link(account.numberID, "AccountNumber")
        self.emit("accountNumber.created", about: account.customerID ?? id, links)
    }

    private func links(_ account: Account) -> [String: JSON] {
        var links: [String: JSON] = ["account": .link(account.id, "DepositAccount")]
        if let customer = account.customerID.flatMap({ self.customers[$0] }) {
            links["customer"] = .link(customer.id, customer.type)
        }
        return links
    }

    /// Freezes or thaws an account.
    mutating func setFrozen(_ id: String, _ isFrozen: Bool) throws(Refusal) {
        guard self.accounts[id] != nil else { throw .notFound("Deposit Account") }
        self.record(.accountFrozen(id: id, isFrozen: isFrozen))
        self.emit(
            isFrozen ? "account.frozen" : "account.unfrozen",
            about: id,
            ["account": .link(id, "DepositAccount")]
        )
    }
}

extension Account {
    /// The id of the number's own resource.
    var numberID: String { (self.id.split(separator: "-").first.map(String.init) ?? self.id) + "-anc_acc_num" }
}
