import Foundation

extension AnchorClient {
    /// Creates a person.
    ///
    /// Not idempotent at the provider: after `mayHaveBeenSent` or `alreadyExists` use `findCustomer`.
    public func createIndividualCustomer(
        _ customer: IndividualCustomer,
        deadline: Duration? = nil
    ) async throws(AnchorError) -> CustomerSnapshot {
        let draft = Draft(type: "IndividualCustomer", attributes: customer)
        let answer: Envelope<CustomerAttributes> = try await self.call(
            .post("/customers", draft),
            "customer",
            deadline: deadline
        )
        return CustomerSnapshot(answer.data)
    }

    /// Creates a business.
    ///
    /// Not idempotent at the provider, see `createIndividualCustomer`.
    public func createBusinessCustomer(
        _ customer: BusinessCustomer,
        deadline: Duration? = nil
    ) async throws(AnchorError) -> CustomerSnapshot {
        let draft = Draft(type: "BusinessCustomer", attributes: customer)
        let answer: Envelope<CustomerAttributes> = try await self.call(
            .post("/customers", draft),
            "customer",
            deadline: deadline
        )
        return CustomerSnapshot(answer.data)
    }

    /// Replaces what the provider knows about a person; repeating is safe.
    ///
    /// The provider compares a BVN with this record. It refuses once the identification is complete.
    public func updateIndividualCustomer(
        id: String,
        _ customer: IndividualCustomer,
        deadline: Duration? = nil
    ) async throws(AnchorError) {
        let draft = Draft(type: "IndividualCustomer", attributes: customer)
        try await self.call(.put("/customers/update/\(escaped(id))", draft), deadline: deadline)
    }

    /// Replaces what the provider knows about a business, see `updateIndividualCustomer`.
    public func updateBusinessCustomer(
        id: String,
        _ customer: BusinessCustomer,
        deadline: Duration? = nil
    ) async throws(AnchorError) {
        let draft = Draft(type: "BusinessCustomer", attributes: customer)
        try await self.call(.put("/customers/update/\(escaped(id))", draft), deadline: deadline)
    }

    /// Reads a customer, with the state of its identification.
    public func customer(id: String, deadline: Duration? = nil) async throws(AnchorError) -> CustomerSnapshot {
        let answer: Envelope<CustomerAttributes> = try await self.call(
            .get("/customers/\(escaped(id))"),
            "customer",
            deadline: deadline
        )
        let snapshot = CustomerSnapshot(answer.data)
        guard snapshot.id == id else { throw AnchorError.malformed(what: "customer echo") }
        return snapshot
    }

    /// The customer with exactly this e-mail address, or nil.
    public func findCustomer(
        email: String,
        deadline: Duration? = nil
    ) async throws(AnchorError) -> CustomerSnapshot? {
        let answer: ListEnvelope<CustomerAttributes> = try await self.call(
            .get("/customers?query=\(escaped(email))&size=50"),
            "customers",
            deadline: deadline
        )
        let wanted = email.lowercased()
        return answer.data.first { $0.attributes.holds(email: wanted) }.map { CustomerSnapshot($0) }
    }

    /// Starts the identification of a person by BVN.
    ///
    /// The result comes as an event and in `customer(id:)`.
    public func startIndividualVerification(
        customerID: String,
        _ verification: IndividualVerification,
        deadline: Duration? = nil
    ) async throws(AnchorError) {
        let draft = Draft(
            type: "Verification",
            attributes: VerificationAttributes(level: "TIER_2", level2: verification)
        )
        try await self.call(
            .post("/customers/\(escaped(customerID))/verification/individual", draft),
            deadline: deadline
        )
    }

    /// Starts the identification of a business.
    ///
    /// The result comes as an event and in `customer(id:)`.
    public func startBusinessVerification(
        customerID: String,
        deadline: Duration? = nil
    ) async throws(AnchorError) {
        let draft = Draft(type: "Verification", attributes: [String: String]())
        try await self.call(
            .post("/customers/\(escaped(customerID))/verification/business", draft),
            deadline: deadline
        )
    }
}

private struct VerificationAttributes: Encodable {
    var level: String
    var level2: IndividualVerification
}

struct CustomerAttributes: Decodable {
    struct Verification: Decodable {
        var status: String?
        var level: String?
    }

    /// Only the e-mail addresses of a business's contact are read.
    struct Contact: Decodable {
        struct Emails: Decodable {
            var general: String?
        }

        var email: Emails?
    }

    var email: String?
    var contact: Contact?
    var status: String?
    var verification: Verification?
    var metadata: [String: String]?

    func holds(email: String) -> Bool {
        self.email?.lowercased() == email || self.contact?.email?.general?.lowercased() == email
    }
}

extension CustomerSnapshot {
    init(_ resource: Resource<CustomerAttributes>) {
        self.init(
            id: resource.id,
            kind: resource.type == "BusinessCustomer" ? .business : .individual,
            verification: VerificationStatus(wire: resource.attributes.verification?.status),
            metadata: resource.attributes.metadata ?? [:]
        )
    }
}
