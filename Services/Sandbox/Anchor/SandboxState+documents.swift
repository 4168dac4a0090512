import Cryptography
import Primitives

extension RequiredDocument {
    var json: JSON {
        resource(
            self.id,
            "Document",
            [
                "documentType": .string(self.type), "format": self.isText ? "TEXT" : "FILE",
                "submitted": .bool(self.isSubmitted), "verified": .bool(self.isVerified), "expires": false,
            ]
        )
    }
}

extension RequiredDocument {
    /// For tests: what has come.
    var report: JSON {
        ["id": .string(self.id), "type": .string(self.type), "sha256": JSON(self.digest)]
    }
}

extension SandboxState {
    /// The documents of a customer, in the order in which they were wanted.
    func documents(of customerID: String) -> [RequiredDocument] {
        (self.documentsByCustomer[customerID] ?? []).compactMap { self.documents[$0] }
    }

    /// Wants documents of a customer, the same ones however often; gives those that are missing.
    mutating func requireDocuments(of customer: Customer) -> [RequiredDocument] {
        if self.documentsByCustomer[customer.id] == nil {
            let wanted =
                customer.isBusiness ? [("RC_NUMBER", true), ("PROOF_OF_ADDRESS", false)] : [("PASSPORT", false)]
            let documents = wanted.map { type, isText in
                RequiredDocument(id: self.newID("anc_doc"), customerID: customer.id, type: type, isText: isText)
            }
            self.record(.documentsRequired(documents))
        }
        return self.documents(of: customer.id).filter { !$0.isSubmitted }
    }

    /// Takes a document, or refuses what the provider refuses.
    mutating func takeDocument(
        _ id: String,
        of customerID: String,
        _ form: [FormPart]
    ) throws(Refusal) -> RequiredDocument {
        guard let document = self.documents[id], document.customerID == customerID else { throw .notFound("Document") }
        guard !document.isVerified else { throw .precondition("The document is verified") }
        let name = document.isText ? "textData" : "fileData"
        guard let part = form.first(where: { $0.name == name }), !part.bytes.isEmpty else {
            throw .badRequest("Missing \(document.isText ? "text" : "file") data")
        }
        guard document.isText || part.hasFileName else { throw .badRequest("Missing file name") }
        let digest = Hex.encode(Array(SHA256.hash(data: part.bytes)))
        self.record(.documentSubmitted(id: id, digest: digest, size: Int64(part.bytes.count), at: self.now))
        self.follow(after: self.switches.kycDelayMs, .reviewDocuments(customerID: customerID))
        return self.documents[id] ?? document
    }

    /// When all that was wanted has come, people at the provider look at it.
    mutating func reviewDocuments(_ customerID: String) {
        guard let customer = self.customers[customerID], customer.plan == nil, customer.verification == "pending",
            self.documents(of: customerID).allSatisfy(\.isSubmitted)
        else { return }
        self.decide(customerID, .manualReview)
    }

    /// Decides about one document: what an operator of the provider does.
    mutating func decideDocument(_ id: String, of customerID: String, isApproved: Bool) throws(Refusal) {
        guard let document = self.documents[id], document.customerID == customerID,
            let customer = self.customers[customerID]
        else { throw .notFound("Document") }
        self.decide(document, of: customer, isApproved: isApproved)
    }

    mutating func approveDocuments(of customer: Customer) {
        for document in self.documents(of: customer.id) where document.isSubmitted && !document.isVerified {
            self.decide(document, of: customer, isApproved: true)
        }
    }

    private mutating func decide(_ document: RequiredDocument, of customer: Customer, isApproved: Bool) {
        self.record(.documentDecided(id: document.id, isApproved: isApproved))
        // Another one is wanted.
        if !isApproved { self.record(.verificationEnded(customerID: customer.id, plan: .awaitingDocument)) }
        self.emit(
            "document.\(isApproved ? "approved" : "rejected")",
            about: customer.id,
            ["document": .link(document.id, "Document"), "customer": .link(customer.id, customer.type)]
        )
    }

    // MARK: Changes

    mutating func add(_ document: RequiredDocument) {
        self.note(id: document.id)
        self.documents[document.id] = document
        self.documentsByCustomer[document.customerID, default: []].append(document.id)
    }

    mutating func submit(_ id: String, digest: String, size: Int64, at: Int64) {
        self.documents[id]?.isSubmitted = true
        self.documents[id]?.digest = digest
        self.log.append(
            LogEntry(
                kind: .document,
                id: id,
                at: at,
                reference: digest,
                amount: size,
                sourceID: self.documents[id]?.customerID,
                status: self.documents[id]?.type
            )
        )
    }
}
