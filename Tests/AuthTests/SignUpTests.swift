import Contracts
import Primitives
import Testing

@testable import AuthService

@Suite("Sign-up rules")
struct SignUpTests {
    private let today = CivilDate(daysSince1970: 20_778)

    private func problem(_ request: OnboardingRequest) -> FieldProblem? {
        do {
            _ = try SignUp(checking: request, today: self.today)
            return nil
        } catch {
            return error
        }
    }

    @Test("a person and a merchant with everything are ready to go")
    func complete() throws {
        let person = try SignUp(checking: Sample.personal("Ada"), today: self.today)
        #expect(person.username.text == "ada")
        #expect(person.details.status == .onboardingInitiated)
        let merchant = try SignUp(checking: Sample.merchant("shop1"), today: self.today)
        #expect(merchant.details.identity.accountType == .merchant)
        #expect(merchant.details.status == .onboardingInitiated)
    }

    @Test("without what the provider needs, details are awaited")
    func incomplete() throws {
        let bare = try SignUp(checking: Sample.personal("ada", contact: nil), today: self.today)
        #expect(bare.details.status == .awaitingDetails)
        var noGender = Sample.contact
        noGender.gender = nil
        let half = try SignUp(checking: Sample.personal("ada", contact: noGender), today: self.today)
        #expect(half.details.status == .awaitingDetails)
        var request = Sample.merchant("shop1")
        request.kybDetails?.director = nil
        #expect(try SignUp(checking: request, today: self.today).details.status == .awaitingDetails)
    }

    @Test("a phone number and an address are kept in one form, however they were written")
    func forms() throws {
        for (phone, email) in [
            ("0803 123 4567", "adaeze@Example.COM"), ("+234 (0) 803-123-4567", " adaeze@example.com"),
        ] {
            var request = Sample.personal("ada")
            request.contactDetails?.phone = phone
            request.contactDetails?.email = email
            #expect(try SignUp(checking: request, today: self.today).details.contact == Sample.contact)
        }
    }

    @Test("each broken rule names its field")
    func pointers() {
        let cases: [(String, FieldRule, (inout OnboardingRequest) -> Void)] = [
            ("/account_type", .accountType, { $0.accountType = "Personal" }),
            ("/kyc_details", .required, { $0.kycDetails = nil }),
            ("/kyb_details", .unexpected, { $0.kybDetails = Sample.business }),
            ("/kyc_details/full_name", .fullName, { $0.kycDetails?.fullName = "Ada" }),
            ("/kyc_details/full_name", .fullName, { $0.kycDetails?.fullName = "Ada <Okonkwo>" }),
            ("/kyc_details/bvn", .elevenDigits, { $0.kycDetails?.bvn = "2221234567" }),
            ("/kyc_details/bvn", .elevenDigits, { $0.kycDetails?.bvn = "2221234567a" }),
            ("/kyc_details/bvn", .elevenDigits, { $0.kycDetails?.bvn = "２２２１２３４５６７８" }),
            ("/kyc_details/date_of_birth", .date, { $0.kycDetails?.dateOfBirth = "1994-02-29" }),
            ("/kyc_details/date_of_birth", .date, { $0.kycDetails?.dateOfBirth = "28/02/1994" }),
            ("/kyc_details/date_of_birth", .pastDate, { $0.kycDetails?.dateOfBirth = "2026-11-21" }),
            ("/kyc_details/date_of_birth", .pastDate, { $0.kycDetails?.dateOfBirth = "1899-12-31" }),
            ("/kyc_details/date_of_birth", .adult, { $0.kycDetails?.dateOfBirth = "2008-11-22" }),
            ("/contact_details/email", .email, { $0.contactDetails?.email = "adaeze@example" }),
            ("/contact_details/email", .email, { $0.contactDetails?.email = "ada..b@example.com" }),
            ("/contact_details/phone", .phone, { $0.contactDetails?.phone = "00000000000" }),
            ("/contact_details/phone", .phone, { $0.contactDetails?.phone = "+448031234567" }),
            ("/contact_details/gender", .gender, { $0.contactDetails?.gender = "female" }),
            ("/contact_details/address/city", .text, { $0.contactDetails?.address.city = "  " }),
            ("/contact_details/address/line_1", .text, { $0.contactDetails?.address.line1 = "1\u{202E}Marina" }),
            // Two characters to a person, more than forty to everybody who stores them.
            (
                "/contact_details/address/state", .text,
                { $0.contactDetails?.address.state = "La" + String(repeating: "\u{323}", count: 60) }
            ),
        ]
        for (pointer, rule, change) in cases {
            var request = Sample.personal("ada")
            change(&request)
            #expect(self.problem(request) == FieldProblem(pointer: pointer, rule: rule), "\(pointer)")
        }
    }

    @Test("each broken rule of a business names its field")
    func businessPointers() {
        let cases: [(String, FieldRule, (inout OnboardingRequest) -> Void)] = [
            ("/kyb_details", .required, { $0.kybDetails = nil }),
            ("/kyc_details", .unexpected, { $0.kycDetails = Sample.person }),
            ("/kyb_details/business_name", .text, { $0.kybDetails?.businessName = "" }),
            ("/kyb_details/rc_number", .registrationNumber, { $0.kybDetails?.rcNumber = "RC 12!" }),
            ("/kyb_details/registration_type", .registrationType, { $0.kybDetails?.registrationType = "Ltd" }),
            ("/kyb_details/date_of_registration", .date, { $0.kybDetails?.dateOfRegistration = "2015-13-01" }),
            ("/kyb_details/director/bvn", .elevenDigits, { $0.kybDetails?.director?.bvn = "1" }),
        ]
        for (pointer, rule, change) in cases {
            var request = Sample.merchant("shop1")
            change(&request)
            #expect(self.problem(request) == FieldProblem(pointer: pointer, rule: rule), "\(pointer)")
        }
    }

    @Test("somebody is an adult on the eighteenth birthday and not the day before")
    func birthday() {
        var request = Sample.personal("ada")
        request.kycDetails?.dateOfBirth = "2008-11-21"
        #expect(self.problem(request) == nil)
    }

    @Test("every rule has a sentence and a code", arguments: FieldRule.allCases)
    func sentences(rule: FieldRule) {
        #expect(rule.sentence.hasSuffix("."))
        #expect(!rule.code.isEmpty)
    }
}
