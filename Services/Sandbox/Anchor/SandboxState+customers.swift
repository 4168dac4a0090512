extension SandboxState {
    /// Creates a customer or refuses.
    mutating func createCustomer(_ body: [UInt8]) throws(Refusal) -> Customer {
        let document = try Document(body)
        let (name, email) = try Self.check(document)
        guard self.customerByEmail[email.lowercased()] == nil else {
            throw .badRequest("Customer with Email already exist")
        }
        let isBusiness = document.type == "BusinessCustomer"
        let customer = Customer(
            id: self.newID(isBusiness ? "anc_bus_cst" : "anc_ind_cst"),
            isBusiness: isBusiness,
            name: name,
            email: email,
            attributes: String(decoding: document.attributes.json.bytes, as: UTF8.self),
            createdAt: self.now
        )
        self.record(.customer(customer))
        self.emit("customer.created", about: customer.id, ["customer": .link(customer.id, customer.type)])
        return customer
    }

    /// Replaces what is known about a customer, or refuses: what was verified stays.
    mutating func updateCustomer(_ id: String, _ body: [UInt8]) throws(Refusal) -> Customer {
        guard let known = self.customers[id] else { throw .notFound("Customer") }
        let document = try Document(body)
        guard document.type == known.type else { throw .badRequest("data.type must be \(known.type)") }
        let (name, email) = try Self.check(document)
        guard known.verification != "approved" else {
            throw .precondition("A customer who is verified cannot be updated.")
        }
        guard self.customerByEmail[email.lowercased()] ?? id == id else {
            throw .badRequest("Customer with Email already exist")
        }
        let attributes = String(decoding: document.attributes.json.bytes, as: UTF8.self)
        self.record(.customerUpdated(id: id, name: name, email: email, attributes: attributes))
        return self.customers[id] ?? known
    }

    private static func check(_ document: Document) throws(Refusal) -> (name: String, email: String) {
        switch document.type {
        case "IndividualCustomer": try Self.checkIndividual(document.attributes)
        case "BusinessCustomer": try Self.checkBusiness(document.attributes)
        default: throw .badRequest("data.type \(document.type) is not supported")
        }
    }

    private static func checkIndividual(_ fields: Fields) throws(Refusal) -> (name: String, email: String) {
        let name = try Self.checkName(fields.object("fullName"))
        try Self.checkAddress(fields.object("address"))
        _ = try fields.phone("phoneNumber")
        return (name, try fields.email("email"))
    }

    private static func checkName(_ fields: Fields) throws(Refusal) -> String {
        "\(try fields.text("firstName")) \(try fields.text("lastName"))"
    }

    private static func checkAddress(_ fields: Fields) throws(Refusal) {
        for key in ["addressLine_1", "city", "state", "postalCode"] { _ = try fields.text(key) }
        guard try fields.text("country").utf8.count == 2 else {
            throw .badRequest("\(fields.name).country must be an ISO 3166 alpha-2 code")
        }
    }

    private static let registrationTypes = [
        "Cooperative_Society", "Private_Incorporated", "Incorporated_Trustees", "Business_Name", "Free_Zone", "Gov",
        "Private_Incorporated_Gov", "Public_Incorporated",
    ]

    private static func checkBusiness(_ fields: Fields) throws(Refusal) -> (name: String, email: String) {
        let address = try fields.object("address")
        for key in ["country", "state"] { _ = try address.text(key) }
        let detail = try fields.object("basicDetail")
        for key in ["country", "description"] { _ = try detail.text(key) }
        // The list itself is not published; its words have a category in front.
        guard
            try detail.text("industry").split(omittingEmptySubsequences: false, whereSeparator: { "-_".contains($0) })
                .count == 2
        else { throw .badRequest("industry is not one of the accepted values") }
        _ = try detail.word("registrationType", of: Self.registrationTypes)
        _ = try detail.digits("businessBvn", count: 11)
        _ = try detail.date("dateOfRegistration")
        let contact = try fields.object("contact")
        _ = try contact.phone("phoneNumber")
        try Self.checkAddress(contact.object("address").object("main"))
        try Self.checkOfficers(fields.list("officers"))
        return (try detail.text("businessName"), try contact.object("email").email("general"))
    }

    private static func checkOfficers(_ officers: [Fields]) throws(Refusal) {
        var numbers: Set<String> = []
        var shares: [Int64] = []
        for officer in officers {
            let role = try officer.word("role", of: ["DIRECTOR", "OWNER"])
            _ = try Self.checkName(officer.object("fullName"))
            try Self.checkAddress(officer.object("address"))
            for key in ["nationality", "title"] { _ = try officer.text(key) }
            _ = try officer.date("dateOfBirth")
            _ = try officer.email("email")
            _ = try officer.phone("phoneNumber")
            guard numbers.insert(try officer.digits("bvn", count: 11)).inserted else {
                throw .badRequest("Two officers have the same BVN")
            }
            if role == "OWNER" { shares.append(officer.json["percentageOwned"]?.number ?? 0) }
        }
        guard shares.isEmpty || (shares.reduce(0, +) == 100 && shares.allSatisfy { $0 >= 5 }) else {
            throw .badRequest("percentageOwned of the owners must add up to 100, each at least 5")
        }
    }
}
