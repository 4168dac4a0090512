import Contracts
import Primitives

extension IdentityDetails {
    /// Checks the details of an account type: those of the other type must be absent.
    init(
        _ type: AccountType,
        kyc: KYCDetails?,
        kyb: KYBDetails?,
        today: CivilDate
    ) throws(FieldProblem) {
        let body = FieldCheck(pointer: "")
        switch type {
        case .personal:
            guard kyb == nil else { throw body.fail("kyb_details", .unexpected) }
            guard let kyc else { throw body.fail("kyc_details", .required) }
            self = .person(try kyc.checked(FieldCheck(pointer: "/kyc_details"), today: today))
        case .merchant:
            guard kyc == nil else { throw body.fail("kyc_details", .unexpected) }
            guard let kyb else { throw body.fail("kyb_details", .required) }
            self = .business(try kyb.checked(FieldCheck(pointer: "/kyb_details"), today: today))
        }
    }
}

extension KYCDetails {
    /// The same person in stored form.
    func checked(_ field: FieldCheck, today: CivilDate) throws(FieldProblem) -> KYCDetails {
        KYCDetails(
            fullName: try field.fullName("full_name", self.fullName),
            bvn: try field.elevenDigits("bvn", self.bvn),
            dateOfBirth: try field.adult("date_of_birth", self.dateOfBirth, today: today).description
        )
    }
}

extension KYBDetails {
    /// The provider's words for legal forms.
    static let registrationTypes: Set<String> = [
        "Cooperative_Society", "Private_Incorporated", "Incorporated_Trustees", "Business_Name", "Free_Zone", "Gov",
        "Private_Incorporated_Gov", "Public_Incorporated",
    ]

    /// The same business in stored form.
    func checked(_ field: FieldCheck, today: CivilDate) throws(FieldProblem) -> KYBDetails {
        var checked = KYBDetails(
            businessName: try field.text("business_name", self.businessName, 2...150),
            rcNumber: try Self.registrationNumber(self.rcNumber, field)
        )
        if let type = self.registrationType {
            guard Self.registrationTypes.contains(type) else {
                throw field.fail("registration_type", .registrationType)
            }
            checked.registrationType = type
        }
        if let industry = self.industry { checked.industry = try Self.industry(industry, field) }
        if let date = self.dateOfRegistration {
            checked.dateOfRegistration = try field.pastDate("date_of_registration", date, today: today).description
        }
        if let bvn = self.businessBvn { checked.businessBvn = try field.elevenDigits("business_bvn", bvn) }
        if let text = self.description { checked.description = try field.text("description", text, 2...500) }
        if let website = self.website { checked.website = try field.text("website", website, 4...200) }
        if let director = self.director {
            checked.director = try director.checked(FieldCheck(pointer: "\(field.pointer)/director"), today: today)
        }
        return checked
    }

    /// The provider's list is not published; its form is: a category, a hyphen or underscore, a trade.
    private static func industry(_ value: String, _ field: FieldCheck) throws(FieldProblem) -> String {
        let text = try field.text("industry", value, 3...100, else: .industry)
        let parts = text.split(omittingEmptySubsequences: false) { $0 == "-" || $0 == "_" }
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(\.isLetter) }) else {
            throw field.fail("industry", .industry)
        }
        return text
    }

    private static func registrationNumber(_ value: String, _ field: FieldCheck) throws(FieldProblem) -> String {
        let text = try field.text("rc_number", value, 1...20, else: .registrationNumber)
        guard text.utf8.allSatisfy({ $0.isLetterOrDigit || "-/".utf8.contains($0) }) else {
            throw field.fail("rc_number", .registrationNumber)
        }
        return text
    }
}

extension ContactDetails {
    /// The provider's words for gender.
    static let genders: Set<String> = ["Male", "Female", "Others"]

    /// The same details in stored form.
    func checked() throws(FieldProblem) -> ContactDetails {
        let field = FieldCheck(pointer: "/contact_details")
        if let gender = self.gender {
            guard Self.genders.contains(gender) else { throw field.fail("gender", .gender) }
        }
        return ContactDetails(
            email: try field.email("email", self.email),
            phone: try field.phone("phone", self.phone),
            gender: self.gender,
            address: try self.address.checked(FieldCheck(pointer: "/contact_details/address"))
        )
    }
}

extension PostalAddress {
    fileprivate func checked(_ field: FieldCheck) throws(FieldProblem) -> PostalAddress {
        var checked = PostalAddress(
            line1: try field.text("line_1", self.line1, 3...100),
            city: try field.text("city", self.city, 2...60),
            state: try field.text("state", self.state, 2...40),
            postalCode: try field.text("postal_code", self.postalCode, 3...10)
        )
        if let line2 = self.line2 { checked.line2 = try field.text("line_2", line2, 1...100) }
        return checked
    }
}
