extension SandboxState {
    /// The account of the organisation that is billed has this name, also when a journal tells of it.
    static let feeAccountName = "TRANSFA FEES"

    /// Bills a transfer that has left for a bank; one that stays inside is free.
    mutating func bill(_ transfer: Transfer) {
        guard transfer.rail == .nip, self.switches.transferFee > 0 || self.switches.stampDuty > 0 else { return }
        let payer = self.switches.billsTo == .customer ? transfer.sourceID : self.organisationAccount()
        self.take(
            .transferFee,
            self.switches.transferFee,
            from: payer,
            reference: transfer.reference,
            narration: "Transfer Fee for NIP Transfer"
        )
        guard transfer.amount > self.switches.stampDutyAbove else { return }
        self.take(
            .stampDuty,
            self.switches.stampDuty,
            from: payer,
            reference: transfer.reference,
            narration: "Stamp Duty Fee for NIP Transfer"
        )
    }

    /// Bills an identification.
    ///
    /// A customer who has no account yet cannot be debited: then it is the organisation.
    mutating func billIdentification(of customerID: String) {
        guard self.switches.identityFee > 0 else { return }
        let own = self.switches.billsTo == .customer ? self.accountsByCustomer[customerID]?.first : nil
        let payer = if let own { own } else { self.organisationAccount() }
        self.take(
            .identity,
            self.switches.identityFee,
            from: payer,
            reference: customerID,
            narration: "Identity Verification Fee"
        )
    }

    /// Debits whatever is there: a bill is not refused.
    private mutating func take(
        _ kind: Bill.Kind,
        _ amount: Int64,
        from account: String,
        reference: String,
        narration: String
    ) {
        guard amount > 0 else { return }
        self.record(
            .billed(
                Bill(
                    id: self.nextRowID(account),
                    accountID: account,
                    kind: kind,
                    amount: amount,
                    reference: reference,
                    narration: narration,
                    createdAt: self.now
                )
            )
        )
    }

    /// The organisation's account; made when the environment has named none.
    private mutating func organisationAccount() -> String {
        if let account = self.feeAccount { return account }
        return self.openFeeAccount(id: nil)
    }

    /// Takes what a bill says out of its account, by a row of its own.
    mutating func add(_ bill: Bill) {
        self.bills.append(bill)
        self.accounts[bill.accountID]?.ledger -= bill.amount
        self.totalOut += bill.amount
        self.addRow(
            bill.accountID,
            amount: bill.amount,
            isCredit: false,
            reference: bill.reference,
            narration: bill.narration,
            at: bill.createdAt,
            feeType: bill.kind.rawValue
        )
        self.log.append(
            LogEntry(
                kind: .bill,
                id: bill.id,
                at: bill.createdAt,
                reference: bill.reference,
                amount: bill.amount,
                sourceID: bill.accountID,
                status: bill.kind.rawValue
            )
        )
    }
}
