/// A person as the provider wants one.
public struct IndividualCustomer: Sendable, Hashable, Encodable {
    /// The name in parts.
    public var fullName: PersonName
    /// Where the person lives.
    public var address: PostalAddress
    /// Unique among the customers of the organisation.
    public var email: String
    /// Exactly 11 digits in local form, such as 08031234567.
    public var phoneNumber: String
    /// Echoed in answers.
    ///
    /// Nothing personal belongs in it.
    public var metadata: [String: String]?

    /// Creates a person.
    public init(
        fullName: PersonName,
        address: PostalAddress,
        email: String,
        phoneNumber: String,
        metadata: [String: String]? = nil
    ) {
        self.fullName = fullName
        self.address = address
        self.email = email
        self.phoneNumber = phoneNumber
        self.metadata = metadata
    }
}

/// A person's name in parts.
public struct PersonName: Sendable, Hashable, Encodable {
    /// Given name.
    public var firstName: String
    /// Family name.
    public var lastName: String
    /// Second given name, if any.
    public var middleName: String?

    /// Creates a name.
    public init(firstName: String, lastName: String, middleName: String? = nil) {
        self.firstName = firstName
        self.lastName = lastName
        self.middleName = middleName
    }
}

/// An address in the provider's form.
public struct PostalAddress: Sendable, Hashable, Encodable {
    /// Street and number.
    public var line1: String
    /// More of the street, if any.
    public var line2: String?
    /// Town.
    public var city: String
    /// State, such as LAGOS.
    public var state: String
    /// Postal code.
    public var postalCode: String
    /// ISO 3166 alpha-2.
    public var country: String

    private enum CodingKeys: String, CodingKey {
        // The only two fields of the provider that are not camelCase.
        case line1 = "addressLine_1"
        case line2 = "addressLine_2"
        case city
        case state
        case postalCode
        case country
    }

    /// Creates an address.
    public init(
        line1: String,
        line2: String? = nil,
        city: String,
        state: String,
        postalCode: String,
        country: String = "NG"
    ) {
        self.line1 = line1
        self.line2 = line2
        self.city = city
        self.state = state
        self.postalCode = postalCode
        self.country = country
    }
}

/// What identifies a person by bank verification number.
public struct IndividualVerification: Sendable, Hashable, Encodable {
    /// 11 digits.
    public var bvn: String
    /// YYYY-MM-DD.
    public var dateOfBirth: String
    /// Male, Female or Others.
    public var gender: Gender

    /// The provider's words for gender.
    public enum Gender: String, Sendable, Hashable, Codable, CaseIterable {
        /// Male.
        case male = "Male"
        /// Female.
        case female = "Female"
        /// Anything else.
        case others = "Others"
    }

    /// Creates a request.
    public init(bvn: String, dateOfBirth: String, gender: Gender) {
        self.bvn = bvn
        self.dateOfBirth = dateOfBirth
        self.gender = gender
    }
}
