extension SandboxState {
    /// Takes a transfer or refuses.
    ///
    /// The same idempotency key again answers with the first transfer as it was taken.
    mutating func takeTransfer(_ body: [UInt8], idempotencyKey: String?) throws(Refusal) -> Transfer {
        let document = try Document(body)
        let key = idempotencyKey.flatMap { $0.isEmpty ? nil : $0 }
        if let key, let id = self.transferByKey[key], var first = self.transfers[id],
            self.now - first.createdAt < 86_400_000
        {
            first.status = .pending
            first.failureReason = nil
            return first
        }
        let rail = try Self.rail(of: document)
        let amount = try Self.amount(document, rail)
        let reason = try Self.reason(document)
        let metadata = document.attributes.json["metadata"]?.strings ?? [:]
        let given = try Self.reference(document)
        let source = try self.source(document)
        let destination = try self.destination(document, rail, source)
        if let given, let first = self.transfersByReference[given]?.first.flatMap({ self.transfers[$0] }) {
            switch self.switches.duplicateReference {
            case .refuse: throw .conflict("Transfer with this reference already exist")
            case .replay: return first
            case .accept: break
            }
        }
        let isCovered = source.available >= amount
        guard isCovered || self.switches.insufficientFunds == .fail else {
            throw .badRequest("Insufficient balance")
        }
        let id = self.newID("anc_trsf")
        let transfer = Transfer(
            id: id,
            reference: given ?? id.replacing("-anc_trsf", with: "-ref"),
            idempotencyKey: key,
            rail: rail,
            amount: amount,
            reason: reason,
            sourceID: source.id,
            destinationID: destination,
            metadata: metadata,
            isHeld: isCovered,
            plan: self.plan(metadata, isCovered: isCovered, rail, destination),
            createdAt: self.now
        )
        self.record(.transferAccepted(transfer))
        self.emit("\(rail.rawValue).transfer.initiated", transfer)
        self.continueTransfer(transfer)
        return self.transfers[id] ?? transfer
    }

    private mutating func continueTransfer(_ transfer: Transfer) {
        if transfer.rail == .book && self.switches.bookSynchronous {
            self.endTransfer(transfer.id)
        } else if transfer.plan.outcome != .never {
            self.follow(after: transfer.plan.delay, .settleTransfer(id: transfer.id))
        }
    }

    private static func rail(of document: Document) throws(Refusal) -> Transfer.Rail {
        switch document.type {
        case "NIPTransfer": return .nip
        case "BookTransfer": return .book
        default: throw .badRequest("data.type \(document.type) is not supported")
        }
    }

    private static func amount(_ document: Document, _ rail: Transfer.Rail) throws(Refusal) -> Int64 {
        guard let amount = document.attributes.json["amount"]?.number else {
            throw .badRequest("amount must be a whole number in the smallest unit")
        }
        guard amount >= (rail == .nip ? 100 : 1) else {
            throw .badRequest("amount must be greater than or equal to \(rail == .nip ? 100 : 1)")
        }
        guard try document.attributes.text("currency") == "NGN" else { throw .badRequest("currency must be NGN") }
        return amount
    }

    private static func reason(_ document: Document) throws(Refusal) -> String {
        let reason = try document.attributes.text("reason")
        guard reason.count <= 100 else { throw .badRequest("reason size must be between 1 and 100") }
        return reason
    }

    private static func reference(_ document: Document) throws(Refusal) -> String? {
        guard let json = document.attributes.json["reference"], json != .null else { return nil }
        guard let reference = json.text, (1...100).contains(reference.count) else {
            throw .badRequest("reference size must be between 1 and 100")
        }
        let isAllowed = reference.utf8.allSatisfy { byte in
            (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2D || byte == 0x5F
                || byte == 0x20 || (0x09...0x0D).contains(byte)
        }
        guard isAllowed else { throw .badRequest("reference must match \"^[a-z\\d\\-_\\s]+$\"") }
        return reference
    }

    private func source(_ document: Document) throws(Refusal) -> Account {
        guard let account = self.accounts[try document.relationships.link("account").id] else {
            throw .notFound("Deposit Account")
        }
        guard !account.isFrozen else { throw .badRequest("Account is frozen") }
        return account
    }

    private func destination(
        _ document: Document,
        _ rail: Transfer.Rail,
        _ source: Account
    ) throws(Refusal) -> String {
        guard rail == .book else {
            let id = try document.relationships.link("counterParty").id
            guard let counterparty = self.counterparties[id], !counterparty.isRemoved else {
                throw .notFound("CounterParty")
            }
            return id
        }
        let id = try document.relationships.link("destinationAccount").id
        guard self.accounts[id] != nil else { throw .notFound("Deposit Account") }
        guard id != source.id else { throw .badRequest("Source and destination account are the same") }
        return id
    }

    /// Missing funds, then metadata, then the recipient's number, then the switch decide.
    private func plan(
        _ metadata: [String: String],
        isCovered: Bool,
        _ rail: Transfer.Rail,
        _ destination: String
    ) -> TransferPlan {
        let number = rail == .nip ? self.counterparties[destination]?.accountNumber : nil
        var outcome = TransferPlan.Outcome(accountNumber: number ?? "") ?? self.switches.transferOutcome
        if let asked = metadata["sandbox_outcome"].flatMap({ TransferPlan.Outcome(rawValue: $0) }) { outcome = asked }
        return TransferPlan(
            outcome: isCovered ? outcome : .failed,
            failureReason: isCovered ? self.switches.failureReason : "INSUFFICIENT_BALANCE",
            delay: metadata["sandbox_delay_ms"].flatMap { Int64($0) } ?? self.switches.transferDelayMs,
            reversalDelay: self.switches.reversalDelayMs
        )
    }
}

extension TransferPlan.Outcome {
    /// What a recipient's number leads to.
    ///
    /// The endings are an invention of this stand-in.
    fileprivate init?(accountNumber: String) {
        switch accountNumber.suffix(4) {
        case "9990": self = .failed
        case "9991": self = .reversed
        case "9992": self = .never
        default: return nil
        }
    }
}
