/// A field of a request that breaks a rule.
///
/// It never holds the value.
struct FieldProblem: Error, Hashable, Sendable {
    /// JSON pointer into the body.
    let pointer: String
    /// The rule.
    let rule: FieldRule
}

/// The rules that fields obey.
enum FieldRule: String, Hashable, Sendable, CaseIterable {
    case required
    case unexpected
    case username
    case reservedUsername
    case accountType
    case text
    case fullName
    case elevenDigits
    case date
    case pastDate
    case adult
    case registrationNumber
    case registrationType
    case industry
    case email
    case phone
    case gender
    case pin
    case guessablePIN
    case method
    case path
    case bodyHash
    case publicKey

    /// What the rule asks for, as one sentence to a person.
    var sentence: String {
        switch self {
        case .required: "This field is required for this account type."
        case .unexpected: "This field does not belong to this account type."
        case .username: "A username is 3 to 20 letters and digits."
        case .reservedUsername: "This username is reserved."
        case .accountType: "An account type is personal or merchant."
        case .text: "One line of the allowed length is needed, all of which shows."
        case .fullName: "First and last name are needed, letters only, at most 100 characters."
        case .elevenDigits: "Eleven digits are needed."
        case .date: "A real date of the form YYYY-MM-DD is needed."
        case .pastDate: "The date must be in the past."
        case .adult: "The person must be 18 or older."
        case .registrationNumber: "A registration number is 1 to 20 letters, digits, hyphens or slashes."
        case .registrationType: "The registration type is not one that the provider knows."
        case .industry: "An industry is a category and a trade, such as Agriculture-AgriculturalCooperatives."
        case .email: "An e-mail address is needed."
        case .phone: "A Nigerian phone number, such as 0803 123 4567 or +234 803 123 4567."
        case .gender: "Gender is Male, Female or Others."
        case .pin: "A PIN is 4 to 6 digits."
        case .guessablePIN: "This PIN is one of those that everybody guesses first: choose another."
        case .method: "A method is POST, PUT, PATCH or DELETE."
        case .path: "A path begins with a slash and has no query."
        case .bodyHash: "A SHA-256 is 64 lower-case hexadecimal digits."
        case .publicKey: "A P-256 public key is needed: X9.63, uncompressed, base64url."
        }
    }

    /// The code that clients branch on.
    var code: String {
        switch self {
        case .required: "missing_field"
        case .unexpected: "unexpected_field"
        case .reservedUsername: "username_reserved"
        case .adult: "under_age"
        case .guessablePIN: "pin_guessable"
        case .username, .accountType, .text, .fullName, .elevenDigits, .date, .pastDate, .registrationNumber,
            .registrationType, .industry, .email, .phone, .gender, .pin, .method, .path, .bodyHash, .publicKey:
            "invalid_value"
        }
    }
}
