extension VerificationPlan {
    /// What a BVN leads to.
    ///
    /// The endings are an invention of this stand-in: the provider documents none.
    init(bvn: String) {
        switch bvn.suffix(4) {
        case "9990": self = .rejected
        case "9991": self = .manualReview
        case "9992": self = .awaitingDocument
        case "9993": self = .error
        case "9994": self = .never
        case "9995": self = .reenterInformation
        default: self = .approved
        }
    }
}

extension SandboxState {
    /// Starts the identification of a person.
    mutating func startIndividualVerification(_ id: String, _ body: [UInt8]) throws(Refusal) {
        guard let customer = self.customers[id], !customer.isBusiness else { throw .notFound("Customer") }
        let document = try Document(body)
        guard document.type == "Verification" else { throw .badRequest("data.type must be Verification") }
        switch try document.attributes.text("level") {
        case "TIER_2":
            let level = try document.attributes.object("level2")
            let bvn = try level.digits("bvn", count: 11)
            _ = try level.date("dateOfBirth")
            _ = try level.word("gender", of: ["Male", "Female", "Others"])
            self.start(id, VerificationPlan(bvn: bvn))
        case "TIER_3":
            let level = try document.attributes.object("level3")
            let types = ["DRIVERS_LICENSE", "VOTERS_CARD", "PASSPORT", "NATIONAL_ID", "NIN_SLIP"]
            _ = try level.word("idType", of: types)
            _ = try level.text("idNumber")
            self.start(id, .manualReview)
        case let level: throw .badRequest("level \(level) is not supported")
        }
    }

    /// Starts the identification of a business.
    mutating func startBusinessVerification(_ id: String) throws(Refusal) {
        guard let customer = self.customers[id], customer.isBusiness else { throw .notFound("Customer") }
        let detail = JSON(parsing: customer.attributes.utf8)?["basicDetail"]
        let plan = VerificationPlan(bvn: detail?["businessBvn"]?.text ?? "")
        self.start(id, plan == .approved && self.switches.businessDocuments ? .awaitingDocument : plan)
    }

    private mutating func start(_ id: String, _ plan: VerificationPlan) {
        self.record(.verificationStarted(customerID: id, plan: plan))
        if plan != .never { self.follow(after: self.switches.kycDelayMs, .endVerification(customerID: id)) }
    }

    /// Ends a running identification as planned, unless it ended meanwhile.
    mutating func endVerification(_ id: String) {
        guard let plan = self.customers[id]?.plan, plan != .never else { return }
        self.decide(id, plan)
    }

    /// Ends an identification: what an operator of the provider does.
    mutating func decide(_ id: String, _ plan: VerificationPlan) {
        guard let customer = self.customers[id], plan != .never else { return }
        self.record(.verificationEnded(customerID: id, plan: plan))
        var attributes: [String: JSON] = [:]
        var relationships: [String: JSON] = ["customer": .link(id, customer.type)]
        if plan == .awaitingDocument {
            let wanted = self.requireDocuments(of: customer)
            attributes["requiredDocuments"] = .array(
                wanted.map { ["type": .string($0.type), "description": .string($0.type)] }
            )
            relationships["documents"] = [
                "data": .array(wanted.map { ["id": .string($0.id), "type": "Document"] })
            ]
        }
        if plan == .approved { self.approveDocuments(of: customer) }
        if plan == .approved || plan == .rejected { self.billIdentification(of: id) }
        self.emit("customer.identification.\(plan.rawValue)", about: id, relationships, attributes: attributes)
    }
}
