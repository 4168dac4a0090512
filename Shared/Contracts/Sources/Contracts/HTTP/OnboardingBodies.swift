import Foundation

/// What identifies a person (specification 6.1).
public struct KYCDetails: Codable, Sendable, Hashable {
    /// As at the bank.
    public var fullName: String
    /// Bank verification number, 11 digits.
    public var bvn: String
    /// yyyy-MM-dd.
    public var dateOfBirth: String

    /// Puts the values together.
    public init(fullName: String, bvn: String, dateOfBirth: String) {
        self.fullName = fullName
        self.bvn = bvn
        self.dateOfBirth = dateOfBirth
    }

    private enum CodingKeys: String, CodingKey {
        case fullName = "full_name"
        case bvn
        case dateOfBirth = "date_of_birth"
    }
}

/// What identifies a business (specification 6.1).
public struct KYBDetails: Codable, Sendable, Hashable {
    /// As registered.
    public var businessName: String
    /// Registration number.
    public var rcNumber: String
    /// Such as `Private_Incorporated`.
    public var registrationType: String?
    /// As the provider names it.
    public var industry: String?
    /// yyyy-MM-dd.
    public var dateOfRegistration: String?
    /// BVN of the business, 11 digits.
    public var businessBvn: String?
    /// What it does.
    public var description: String?
    /// Its web page.
    public var website: String?
    /// Its director.
    public var director: KYCDetails?

    /// Puts the values together.
    public init(
        businessName: String,
        rcNumber: String,
        registrationType: String? = nil,
        industry: String? = nil,
        dateOfRegistration: String? = nil,
        businessBvn: String? = nil,
        description: String? = nil,
        website: String? = nil,
        director: KYCDetails? = nil
    ) {
        self.businessName = businessName
        self.rcNumber = rcNumber
        self.registrationType = registrationType
        self.industry = industry
        self.dateOfRegistration = dateOfRegistration
        self.businessBvn = businessBvn
        self.description = description
        self.website = website
        self.director = director
    }

    private enum CodingKeys: String, CodingKey {
        case businessName = "business_name"
        case rcNumber = "rc_number"
        case registrationType = "registration_type"
        case industry
        case dateOfRegistration = "date_of_registration"
        case businessBvn = "business_bvn"
        case description
        case website
        case director
    }
}

/// Where somebody lives or works.
public struct PostalAddress: Codable, Sendable, Hashable {
    /// Street.
    public var line1: String
    /// More of the street.
    public var line2: String?
    /// City.
    public var city: String
    /// State of Nigeria.
    public var state: String
    /// Postal code.
    public var postalCode: String

    /// Puts the values together.
    public init(line1: String, line2: String? = nil, city: String, state: String, postalCode: String) {
        self.line1 = line1
        self.line2 = line2
        self.city = city
        self.state = state
        self.postalCode = postalCode
    }

    private enum CodingKeys: String, CodingKey {
        case line1 = "line_1"
        case line2 = "line_2"
        case city
        case state
        case postalCode = "postal_code"
    }
}

/// What the provider needs beyond the specification's body.
public struct ContactDetails: Codable, Sendable, Hashable {
    /// Address for mail.
    public var email: String
    /// 11 digits, of which the first is 0.
    public var phone: String
    /// Male, Female or Others.
    public var gender: String?
    /// Where somebody lives or works.
    public var address: PostalAddress

    /// Puts the values together.
    public init(email: String, phone: String, gender: String? = nil, address: PostalAddress) {
        self.email = email
        self.phone = phone
        self.gender = gender
        self.address = address
    }
}

/// POST /onboarding.
public struct OnboardingRequest: Codable, Sendable, Hashable {
    /// 3 to 20 letters and digits.
    public var username: String
    /// `personal` or `merchant`.
    public var accountType: String
    /// For `personal`.
    public var kycDetails: KYCDetails?
    /// For `merchant`.
    public var kybDetails: KYBDetails?
    /// Until it is given the status is `awaiting_details`.
    public var contactDetails: ContactDetails?

    /// Puts the values together.
    public init(
        username: String,
        accountType: String,
        kycDetails: KYCDetails? = nil,
        kybDetails: KYBDetails? = nil,
        contactDetails: ContactDetails? = nil
    ) {
        self.username = username
        self.accountType = accountType
        self.kycDetails = kycDetails
        self.kybDetails = kybDetails
        self.contactDetails = contactDetails
    }

    private enum CodingKeys: String, CodingKey {
        case username
        case accountType = "account_type"
        case kycDetails = "kyc_details"
        case kybDetails = "kyb_details"
        case contactDetails = "contact_details"
    }
}

/// PUT /onboarding/details.
public struct OnboardingDetailsRequest: Codable, Sendable, Hashable {
    /// Corrected details of a person.
    public var kycDetails: KYCDetails?
    /// Corrected details of a business.
    public var kybDetails: KYBDetails?
    /// What the provider needs.
    public var contactDetails: ContactDetails

    /// Puts the values together.
    public init(kycDetails: KYCDetails? = nil, kybDetails: KYBDetails? = nil, contactDetails: ContactDetails) {
        self.kycDetails = kycDetails
        self.kybDetails = kybDetails
        self.contactDetails = contactDetails
    }

    private enum CodingKeys: String, CodingKey {
        case kycDetails = "kyc_details"
        case kybDetails = "kyb_details"
        case contactDetails = "contact_details"
    }
}

/// The answer to POST /onboarding and PUT /onboarding/details.
public struct OnboardingResponse: Codable, Sendable, Hashable {
    /// The user.
    public var userID: UUID
    /// Lower case.
    public var username: String
    /// `onboarding_initiated` or `awaiting_details`.
    public var status: String

    /// Puts the values together.
    public init(userID: UUID, username: String, status: String) {
        self.userID = userID
        self.username = username
        self.status = status
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case username
        case status
    }
}

/// The answer to GET /onboarding/status.
public struct OnboardingStatusResponse: Codable, Sendable, Hashable {
    /// Why verification failed.
    public struct Reason: Codable, Sendable, Hashable {
        /// For the app; more may come.
        public var code: String
        /// For the person: what to do now.
        public var detail: String

        /// Puts the values together.
        public init(code: String, detail: String) {
            self.code = code
            self.detail = detail
        }
    }

    /// The user.
    public var userID: UUID
    /// Lower case.
    public var username: String
    /// `personal` or `merchant`.
    public var accountType: String
    /// `awaiting_details`, `pending`, `awaiting_document`, `manual_review`, `approved` or `rejected`.
    public var status: String
    /// With `rejected`.
    public var reason: Reason?

    /// Puts the values together.
    public init(userID: UUID, username: String, accountType: String, status: String, reason: Reason? = nil) {
        self.userID = userID
        self.username = username
        self.accountType = accountType
        self.status = status
        self.reason = reason
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case username
        case accountType = "account_type"
        case status
        case reason
    }
}
