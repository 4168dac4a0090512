extension SandboxState {
    mutating func add(_ transfer: Transfer) {
        self.note(id: transfer.id)
        self.transfers[transfer.id] = transfer
        self.transferOrder.append(transfer.id)
        self.transfersByReference[transfer.reference, default: []].append(transfer.id)
        self.transfersByAccount[transfer.sourceID, default: []].append(transfer.id)
        self.transfersByDestination[transfer.destinationID, default: []].append(transfer.id)
        if let key = transfer.idempotencyKey { self.transferByKey[key] = transfer.id }
        if transfer.isHeld { self.accounts[transfer.sourceID]?.hold += transfer.amount }
        self.log.append(self.entry(.transferAccepted, transfer, at: transfer.createdAt))
    }

    /// Moves the money of a transfer to where its new status says it is.
    mutating func settle(_ id: String, _ status: Transfer.Status, _ reason: String?, at: Int64) {
        guard let transfer = self.transfers[id] else { return }
        switch (transfer.status, status) {
        case (.pending, .completed):
            self.accounts[transfer.sourceID]?.hold -= transfer.amount
            self.move(transfer, isReturn: false, at: at)
        case (.pending, .failed) where transfer.isHeld: self.accounts[transfer.sourceID]?.hold -= transfer.amount
        case (.pending, .failed): break
        case (.completed, .reversed): self.move(transfer, isReturn: true, at: at)
        // Any other step is no step; callers ask `mayBecome` first.
        default: return
        }
        self.transfers[id]?.status = status
        self.transfers[id]?.failureReason = reason
        var entry = self.entry(.transferSettled, transfer, at: at)
        entry.status = status.rawValue
        self.log.append(entry)
    }

    /// Makes a transfer one of another amount than was ordered, with the money where that puts it.
    mutating func alter(_ id: String, to amount: Int64, at: Int64) {
        guard let transfer = self.transfers[id], transfer.status != .failed, amount != transfer.amount else { return }
        let more = amount - transfer.amount
        self.transfers[id]?.amount = amount
        switch transfer.status {
        case .pending where transfer.isHeld: self.accounts[transfer.sourceID]?.hold += more
        case .completed:
            var correction = transfer
            correction.amount = abs(more)
            self.move(correction, isReturn: more < 0, at: at)
        case .pending, .failed, .reversed: break
        }
    }

    private mutating func move(_ transfer: Transfer, isReturn: Bool, at: Int64) {
        self.post(transfer, to: transfer.sourceID, isCredit: isReturn, at: at)
        if transfer.rail == .book {
            self.post(transfer, to: transfer.destinationID, isCredit: !isReturn, at: at)
        } else if isReturn {
            self.totalIn += transfer.amount
        } else {
            self.totalOut += transfer.amount
        }
    }

    private mutating func post(_ transfer: Transfer, to accountID: String, isCredit: Bool, at: Int64) {
        self.accounts[accountID]?.ledger += isCredit ? transfer.amount : -transfer.amount
        self.addRow(
            accountID,
            amount: transfer.amount,
            isCredit: isCredit,
            reference: transfer.reference,
            narration: transfer.reason,
            at: at
        )
    }

    mutating func addRow(
        _ accountID: String,
        amount: Int64,
        isCredit: Bool,
        reference: String,
        narration: String,
        at: Int64,
        feeType: String? = nil
    ) {
        self.rows[accountID, default: []].append(
            Row(
                id: self.nextRowID(accountID),
                amount: amount,
                isCredit: isCredit,
                reference: reference,
                narration: narration,
                createdAt: at,
                feeType: feeType
            )
        )
    }

    /// The id that the next row of an account will have.
    func nextRowID(_ accountID: String) -> String {
        let owner = accountID.split(separator: "-").first.map(String.init) ?? accountID
        return "\(owner)\(self.rows[accountID]?.count ?? 0)-anc_txn"
    }

    mutating func add(_ payment: InboundPayment) {
        self.note(id: payment.id)
        self.inbound[payment.id] = payment
        self.inboundByAccount[payment.accountID, default: []].append(payment.id)
        self.accounts[payment.accountID]?.pending += payment.amount
        self.log.append(self.entry(.inbound, payment, at: payment.createdAt))
    }

    mutating func settleInbound(_ id: String, at: Int64) {
        guard let payment = self.inbound[id], !payment.isSettled else { return }
        self.inbound[id]?.isSettled = true
        self.accounts[payment.accountID]?.pending -= payment.amount
        self.accounts[payment.accountID]?.ledger += payment.amount
        self.totalIn += payment.amount
        self.addRow(
            payment.accountID,
            amount: payment.amount,
            isCredit: true,
            reference: payment.reference,
            narration: payment.narration,
            at: at
        )
        self.log.append(self.entry(.inboundSettled, payment, at: at))
    }

    private func entry(_ kind: LogEntry.Kind, _ transfer: Transfer, at: Int64) -> LogEntry {
        LogEntry(
            kind: kind,
            id: transfer.id,
            at: at,
            reference: transfer.reference,
            amount: transfer.amount,
            sourceID: transfer.sourceID,
            destinationID: transfer.destinationID,
            status: transfer.rail.rawValue
        )
    }

    private func entry(_ kind: LogEntry.Kind, _ payment: InboundPayment, at: Int64) -> LogEntry {
        LogEntry(
            kind: kind,
            id: payment.id,
            at: at,
            reference: payment.reference,
            amount: payment.amount,
            destinationID: payment.accountID
        )
    }
}
