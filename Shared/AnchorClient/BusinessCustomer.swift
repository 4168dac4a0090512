/// A business as the provider wants one.
public struct BusinessCustomer: Sendable, Hashable {
    /// Trade, registration and name.
    public var detail: BusinessDetail
    /// How to reach it.
    public var contact: BusinessContact
    /// Directors and owners.
    ///
    /// Owners' shares add up to 100, none under 5, and no two have the same BVN.
    public var officers: [BusinessOfficer]
    /// Echoed in answers.
    ///
    /// Nothing personal belongs in it.
    public var metadata: [String: String]?

    /// Creates a business.
    public init(
        detail: BusinessDetail,
        contact: BusinessContact,
        officers: [BusinessOfficer],
        metadata: [String: String]? = nil
    ) {
        self.detail = detail
        self.contact = contact
        self.officers = officers
        self.metadata = metadata
    }
}

/// Trade, registration and name of a business.
public struct BusinessDetail: Sendable, Hashable, Encodable {
    /// A trade of the provider's list, such as `Agriculture-AgriculturalCooperatives`.
    public var industry: String
    /// The legal form, such as `Business_Name` or `Private_Incorporated`.
    public var registrationType: String
    /// ISO 3166 alpha-2.
    public var country: String
    /// The registered name.
    public var businessName: String
    /// 11 digits.
    public var businessBvn: String
    /// YYYY-MM-DD.
    public var dateOfRegistration: String
    /// What it does.
    public var description: String
    /// Its site, if any.
    public var website: String?

    /// Creates details.
    public init(
        industry: String,
        registrationType: String,
        country: String = "NG",
        businessName: String,
        businessBvn: String,
        dateOfRegistration: String,
        description: String,
        website: String? = nil
    ) {
        self.industry = industry
        self.registrationType = registrationType
        self.country = country
        self.businessName = businessName
        self.businessBvn = businessBvn
        self.dateOfRegistration = dateOfRegistration
        self.description = description
        self.website = website
    }
}

/// How to reach a business.
public struct BusinessContact: Sendable, Hashable {
    /// Unique among the customers of the organisation; used for support and disputes too.
    public var email: String
    /// Exactly 11 digits in local form.
    public var phoneNumber: String
    /// Main and registered address.
    public var address: PostalAddress

    /// Creates a contact.
    public init(email: String, phoneNumber: String, address: PostalAddress) {
        self.email = email
        self.phoneNumber = phoneNumber
        self.address = address
    }
}

/// A director or an owner of a business.
public struct BusinessOfficer: Sendable, Hashable, Encodable {
    /// What the officer is.
    public enum Role: String, Sendable, Hashable, Codable {
        /// Runs the business.
        case director = "DIRECTOR"
        /// Owns a share.
        case owner = "OWNER"
    }

    /// Director or owner.
    public var role: Role
    /// The name in parts.
    public var fullName: PersonName
    /// ISO 3166 alpha-2.
    public var nationality: String
    /// Where the officer lives.
    public var address: PostalAddress
    /// YYYY-MM-DD.
    public var dateOfBirth: String
    /// E-mail address.
    public var email: String
    /// Exactly 11 digits in local form.
    public var phoneNumber: String
    /// 11 digits.
    public var bvn: String
    /// CEO, COO, CFO, President and so on.
    public var title: String
    /// The share in percent, for owners.
    public var percentageOwned: Int?

    /// Creates an officer.
    public init(
        role: Role,
        fullName: PersonName,
        nationality: String = "NG",
        address: PostalAddress,
        dateOfBirth: String,
        email: String,
        phoneNumber: String,
        bvn: String,
        title: String,
        percentageOwned: Int? = nil
    ) {
        self.role = role
        self.fullName = fullName
        self.nationality = nationality
        self.address = address
        self.dateOfBirth = dateOfBirth
        self.email = email
        self.phoneNumber = phoneNumber
        self.bvn = bvn
        self.title = title
        self.percentageOwned = percentageOwned
    }
}

extension BusinessCustomer: Encodable {
    private struct Place: Encodable {
        var country: String
        var state: String
    }

    private struct Reach: Encodable {
        struct Emails: Encodable {
            var general: String
            var support: String
            var dispute: String
        }

        struct Addresses: Encodable {
            var main: PostalAddress
            var registered: PostalAddress
        }

        var email: Emails
        var address: Addresses
        var phoneNumber: String
    }

    private struct Wire: Encodable {
        var address: Place
        var basicDetail: BusinessDetail
        var contact: Reach
        var officers: [BusinessOfficer]
        var metadata: [String: String]?
    }

    /// Encodes the provider's form, which says several things twice.
    public func encode(to encoder: any Encoder) throws {
        let address = self.contact.address
        let email = self.contact.email
        try Wire(
            address: Place(country: address.country, state: address.state),
            basicDetail: self.detail,
            contact: Reach(
                email: .init(general: email, support: email, dispute: email),
                address: .init(main: address, registered: address),
                phoneNumber: self.contact.phoneNumber
            ),
            officers: self.officers,
            metadata: self.metadata
        )
        .encode(to: encoder)
    }
}
