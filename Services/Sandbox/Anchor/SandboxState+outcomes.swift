extension SandboxState {
    /// Ends a pending transfer as planned.
    mutating func endTransfer(_ id: String) {
        guard let transfer = self.transfers[id], transfer.status == .pending else { return }
        switch transfer.plan.outcome {
        case .completed: self.set(id, .completed)
        case .failed: self.set(id, .failed)
        case .reversed:
            self.set(id, .completed)
            self.follow(after: transfer.plan.reversalDelay, .reverseTransfer(id: id))
        case .never: break
        }
    }

    /// Returns the money of a completed transfer.
    mutating func reverseTransfer(_ id: String) { self.set(id, .reversed) }

    /// Sets the outcome by hand; refuses steps that the provider never makes.
    mutating func decideTransfer(_ idOrReference: String, _ status: Transfer.Status) throws(Refusal) -> Transfer {
        let id = self.transfersByReference[idOrReference]?.first ?? idOrReference
        guard let transfer = self.transfers[id] else { throw .notFound("Transfer") }
        switch (transfer.status, status) {
        case (.pending, .completed), (.pending, .failed), (.completed, .reversed): self.set(id, status)
        default: throw .conflict("A \(transfer.status.rawValue) transfer cannot become \(status.rawValue)")
        }
        return self.transfers[id] ?? transfer
    }

    /// Lets the provider have booked another amount than was ordered.
    mutating func alterTransfer(_ idOrReference: String, _ amount: Int64) throws(Refusal) -> Transfer {
        let id = self.transfersByReference[idOrReference]?.first ?? idOrReference
        guard self.transfers[id] != nil else { throw .notFound("Transfer") }
        self.record(.transferAltered(id: id, amount: amount, at: self.now))
        guard let transfer = self.transfers[id] else { throw .notFound("Transfer") }
        return transfer
    }

    private mutating func set(_ id: String, _ status: Transfer.Status) {
        guard let transfer = self.transfers[id] else { return }
        let isStep =
            status == .reversed ? transfer.status == .completed : transfer.status == .pending && status != .pending
        guard isStep else { return }
        let reason = status == .failed ? transfer.plan.failureReason ?? self.switches.failureReason : nil
        self.record(.transferSettled(id: id, status: status, failureReason: reason, at: self.now))
        guard let settled = self.transfers[id] else { return }
        if status == .completed { self.bill(settled) }
        let word = status == .completed ? "successful" : status.rawValue.lowercased()
        self.emit("\(settled.rail.rawValue).transfer.\(word)", settled)
    }

    /// Money arrives from a bank.
    mutating func receive(_ payment: InboundPayment) {
        self.record(.inbound(payment))
        switch payment.events {
        case .payment: self.emit("payment.received", payment)
        case .nip: self.emit("nip.inbound.received", payment)
        case .both, .twin:
            self.emit("payment.received", payment)
            self.emit("nip.inbound.received", payment)
        case .repeated, .none: break
        }
        if payment.settleDelay > 0 {
            self.follow(after: payment.settleDelay, .settleInbound(id: payment.id))
        } else {
            self.settleInbound(payment.id)
        }
    }

    /// The money that arrived can be spent.
    mutating func settleInbound(_ id: String) {
        guard let payment = self.inbound[id], !payment.isSettled else { return }
        self.record(.inboundSettled(id: id, at: self.now))
        switch payment.events {
        case .payment: self.emit("payment.settled", payment)
        case .nip: self.emit("nip.inbound.completed", payment)
        case .both, .twin:
            self.emit("payment.settled", payment)
            self.emit("nip.inbound.completed", payment)
        case .repeated: for _ in 0..<3 { self.emit("payment.settled", payment) }
        case .none: break
        }
    }

    /// Plans again what a restart interrupted.
    mutating func resume() {
        for transfer in self.transfers.values {
            if transfer.status == .pending, transfer.plan.outcome != .never {
                self.follow(after: transfer.plan.delay, .settleTransfer(id: transfer.id))
            } else if transfer.status == .completed, transfer.plan.outcome == .reversed {
                self.follow(after: transfer.plan.reversalDelay, .reverseTransfer(id: transfer.id))
            }
        }
        for customer in self.customers.values where customer.plan != nil {
            self.follow(after: self.switches.kycDelayMs, .endVerification(customerID: customer.id))
        }
        for customer in self.documentsByCustomer.keys {
            self.follow(after: self.switches.kycDelayMs, .reviewDocuments(customerID: customer))
        }
        for account in self.accounts.values where !account.isNumbered {
            self.follow(after: self.switches.accountNumberDelayMs, .numberAccount(id: account.id))
        }
        for payment in self.inbound.values where !payment.isSettled {
            self.follow(after: payment.settleDelay, .settleInbound(id: payment.id))
        }
        for id in self.waitingEvents.sorted() {
            if let event = self.events[id] { self.follow(after: 0, .deliver(event)) }
        }
    }

    /// Takes over what the environment says, which wins over the journal.
    mutating func adopt(_ configuration: SandboxConfiguration) {
        var switches = self.switches
        switches.kycDelayMs = configuration.kycDelay ?? switches.kycDelayMs
        switches.transferDelayMs = configuration.transferDelay ?? switches.transferDelayMs
        self.record(.switches(switches))
        if let pool = configuration.poolAccount, self.accounts[pool] == nil {
            _ = try? self.createOrganisationAccount(name: "TRANSFA MONEY DROPS", id: pool)
        }
        if let account = configuration.feeAccount, self.accounts[account] == nil {
            _ = self.openFeeAccount(id: account)
        }
        guard let url = configuration.webhookURL, self.target?.url != url else { return }
        self.setTarget(url: url, token: configuration.webhookToken)
    }

    /// Sends webhooks somewhere from now on.
    mutating func setTarget(url: String, token: String, isAtLeastOnce: Bool = true, includesRelated: Bool = false) {
        let target = WebhookTarget(
            id: self.newID("anc_wk"),
            url: url,
            token: token,
            isAtLeastOnce: isAtLeastOnce,
            includesRelated: includesRelated
        )
        self.record(.target(target))
    }
}
