import DequeModule

extension SandboxState {
    /// Applies one change.
    ///
    /// Never refuses: what is recorded has happened.
    mutating func apply(_ change: Change) {
        switch change {
        case .customer(let customer): self.add(customer)
        case .customerUpdated(let id, let name, let email, let attributes):
            self.update(id, name: name, email: email, attributes: attributes)
        case .verificationStarted(let id, let plan):
            self.customers[id]?.verification = "pending"
            self.customers[id]?.plan = plan
            self.note(.verification, id, status: "started")
        case .verificationEnded(let id, let plan):
            self.customers[id]?.verification = plan.status
            self.customers[id]?.plan = nil
            self.note(.verification, id, status: plan.rawValue)
        case .documentsRequired(let documents): for document in documents { self.add(document) }
        case .documentSubmitted(let id, let digest, let size, let at):
            self.submit(id, digest: digest, size: size, at: at)
        case .documentDecided(let id, let isApproved):
            self.documents[id]?.isVerified = isApproved
            self.documents[id]?.isSubmitted = isApproved
        case .account(let account): self.add(account)
        case .accountNumbered(let id): self.accounts[id]?.isNumbered = true
        case .accountFrozen(let id, let isFrozen): self.accounts[id]?.isFrozen = isFrozen
        case .counterparty(let counterparty): self.add(counterparty)
        case .counterpartyRemoved(let id): self.removeCounterparty(id)
        case .holderNamed(let number, let name): self.holders[number] = name
        case .transferAccepted(let transfer): self.add(transfer)
        case .transferSettled(let id, let status, let reason, let at):
            self.settle(id, status, reason, at: at)
        case .transferAltered(let id, let amount, let at): self.alter(id, to: amount, at: at)
        case .inbound(let payment): self.add(payment)
        case .inboundSettled(let id, let at): self.settleInbound(id, at: at)
        case .billed(let bill): self.add(bill)
        case .event(let event):
            self.note(id: event.id)
            self.events[event.id] = event
            self.eventCount += 1
            self.waitingEvents.insert(event.id)
        case .eventEnded(let id, let attempts, let isDelivered, let at):
            self.waitingEvents.remove(id)
            self.endEvent(id, attempts: attempts, isDelivered: isDelivered, at: at)
        case .switches(let switches): self.switches = switches
        case .target(let target): self.target = target
        }
    }

    private mutating func note(_ kind: LogEntry.Kind, _ id: String, status: String) {
        self.log.append(LogEntry(kind: kind, id: id, at: self.now, status: status))
    }

    private mutating func add(_ customer: Customer) {
        self.note(id: customer.id)
        self.customers[customer.id] = customer
        self.customerOrder.append(customer.id)
        self.customerByEmail[customer.email.lowercased()] = customer.id
        self.log.append(LogEntry(kind: .customer, id: customer.id, at: customer.createdAt, status: customer.type))
    }

    private mutating func update(_ id: String, name: String, email: String, attributes: String) {
        if let old = self.customers[id]?.email { self.customerByEmail[old.lowercased()] = nil }
        self.customerByEmail[email.lowercased()] = id
        self.customers[id]?.name = name
        self.customers[id]?.email = email
        self.customers[id]?.attributes = attributes
        self.note(.customer, id, status: "updated")
    }

    private mutating func add(_ account: Account) {
        self.note(id: account.id)
        self.accounts[account.id] = account
        self.accountOrder.append(account.id)
        self.accountByNumber[account.number] = account.id
        if account.customerID == nil, account.name == Self.feeAccountName { self.feeAccount = account.id }
        if let owner = account.customerID { self.accountsByCustomer[owner, default: []].append(account.id) }
        self.log.append(
            LogEntry(kind: .account, id: account.id, at: account.createdAt, sourceID: account.customerID)
        )
    }

    private mutating func add(_ counterparty: Counterparty) {
        self.note(id: counterparty.id)
        self.counterparties[counterparty.id] = counterparty
        self.counterpartyByKey[counterparty.key] = counterparty.id
        self.log.append(LogEntry(kind: .counterparty, id: counterparty.id, at: counterparty.createdAt))
    }

    private mutating func removeCounterparty(_ id: String) {
        guard let key = self.counterparties[id]?.key else { return }
        self.counterparties[id]?.isRemoved = true
        self.counterpartyByKey[key] = nil
        self.note(.counterpartyRemoved, id, status: "removed")
    }

    private static let keptEvents = 50_000

    private mutating func endEvent(_ id: String, attempts: Int, isDelivered: Bool, at: Int64) {
        self.log.append(
            LogEntry(
                kind: .webhook,
                id: id,
                at: at,
                reference: self.events[id]?.type,
                amount: Int64(attempts),
                sourceID: self.events[id]?.subject,
                status: isDelivered ? "delivered" : "given_up"
            )
        )
        self.endedEvents.append(id)
        guard self.endedEvents.count > Self.keptEvents, let oldest = self.endedEvents.popFirst() else { return }
        self.events[oldest] = nil
    }
}
