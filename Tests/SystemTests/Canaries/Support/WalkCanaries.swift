import Contracts
import Foundation
import Primitives
import TestSupport

/// The made-up data of one person and one business, each value of which can be told from everything else.
struct WalkCanaries: Sendable {
    let run = String(Int.random(in: 1_000_000...9_999_999))
    private let words: [String: String]

    /// What stands for itself in texts: letters alone, so that a name may be it.
    private static let names = [
        "given name", "family name", "e-mail", "street", "second line of the address", "city", "business name",
        "business description", "website", "director's given name", "director's family name", "phone's name",
        "payment's description", "request's description", "description of a request's payment", "drop's title",
        "drop's password", "wrong password of a drop", "payer's name", "narration", "search", "path", "header",
        "bad body", "forged webhook", "signed webhook", "unread webhook", "holder's other name", "other holder",
        "document", "line of a document", "bad document", "problem", "operator's answer", "camera", "bad picture",
    ]
    /// What operators write about their acts.
    private static let operatorsNames = ["operator's reason", "operator's note"]

    init() {
        let first = Int.random(in: 10_000...89_999)
        (self.pin, self.wrongPIN, self.newPIN) = ("0\(first)", "0\(first + 1)", "0\(first + 2)")
        self.words = Dictionary(
            uniqueKeysWithValues: (Self.names + Self.operatorsNames).map { name in
                (name, "Kanari" + String((0..<9).map { _ in "bcdfghjklmnpqrstvwxz".randomElement() ?? "b" }))
            }
        )
    }

    /// The word for something.
    subscript(name: String) -> String { self.words[name] ?? "" }

    // MARK: Numbers

    var bvn: String { "221\(self.run)7" }
    var businessBVN: String { "222\(self.run)7" }
    var directorsBVN: String { "223\(self.run)7" }
    var twinsBVN: String { "224\(self.run)7" }
    var phone: String { "090\(self.run)1" }
    var businessPhone: String { "091\(self.run)1" }
    var registrationNumber: String { "RC\(self.run)99" }
    let birthDate = "1931-07-23"
    /// The accounts at another bank: one to add, one to ask about, one that does not exist, one that pays.
    var bankAccount: String { "08\(self.run)3" }
    var askedAccount: String { "07\(self.run)4" }
    var noAccount: String { "06\(self.run.prefix(4))0000" }
    var payersAccount: String { "05\(self.run)6" }
    /// With a zero in front, as numbers are not written.
    let pin: String
    let wrongPIN: String
    let newPIN: String
    var pushToken: String { String(repeating: "c0ffee\(self.run)", count: 4) }

    // MARK: People

    var username: String { "walker\(self.run.suffix(4))x" }
    var shopname: String { "walkshop\(self.run.suffix(4))x" }

    var person: OnboardingRequest {
        OnboardingRequest(
            username: self.username,
            accountType: "personal",
            kycDetails: KYCDetails(
                fullName: "\(self["given name"]) \(self["family name"])",
                bvn: self.bvn,
                dateOfBirth: self.birthDate
            ),
            contactDetails: self.contact
        )
    }

    var contact: ContactDetails {
        ContactDetails(
            email: "\(self["e-mail"])@example.com",
            phone: self.phone,
            gender: "Female",
            address: PostalAddress(
                line1: "7 \(self["street"]) Street",
                line2: self["second line of the address"],
                city: self["city"],
                state: "Lagos",
                postalCode: "100001"
            )
        )
    }

    var business: OnboardingRequest {
        var contact = self.contact
        contact.email = "shop.\(self["e-mail"])@example.com"
        contact.phone = self.businessPhone
        return OnboardingRequest(
            username: self.shopname,
            accountType: "merchant",
            kybDetails: KYBDetails(
                businessName: "\(self["business name"]) Trading",
                rcNumber: self.registrationNumber,
                registrationType: "Private_Incorporated",
                industry: "Agriculture-AgriculturalCooperatives",
                dateOfRegistration: "2015-06-01",
                businessBvn: self.businessBVN,
                description: "Sells \(self["business description"])",
                website: "https://\(self["website"]).example.com",
                director: KYCDetails(
                    fullName: "\(self["director's given name"]) \(self["director's family name"])",
                    bvn: self.directorsBVN,
                    dateOfBirth: self.birthDate
                )
            ),
            contactDetails: contact
        )
    }

    // MARK: What is looked for

    /// What stands in the open in the audit, in notes and proposals and on their pages, and nowhere else: people who operate write it
    /// for each other, and it must outlive the user's key.
    var operators: [Canary] { Self.operatorsNames.map { Canary(name: $0, text: self[$0]) } }

    /// How lines begin that may hold it.
    static let operatorsPlaces: Set = [
        "audit_log", "break_notes", "transfer_proposals", "/internal/ops/audit", "/internal/reconciliations/breaks",
        "/internal/transfers", "/internal/transfer-proposals", "transfactl-audit", "transfactl-transfers",
    ]

    /// All others, and the secrets that came up on the way.
    func all(with secrets: [Canary]) -> [Canary] {
        let numbers = [
            ("BVN", self.bvn), ("business BVN", self.businessBVN), ("director's BVN", self.directorsBVN),
            ("twin's BVN", self.twinsBVN),
            // Without the zero, as abroad.
            ("phone", String(self.phone.dropFirst())), ("business phone", String(self.businessPhone.dropFirst())),
            ("registration number", self.registrationNumber), ("birth date", self.birthDate),
            ("birth date", self.birthDate.replacingOccurrences(of: "-", with: "")),
            ("bank account", self.bankAccount), ("asked account", self.askedAccount), ("no account", self.noAccount),
            ("payer's account", self.payersAccount),
        ]
        let pins = [("PIN", self.pin), ("wrong PIN", self.wrongPIN), ("new PIN", self.newPIN)]
        return Self.names.map { Canary(name: $0, text: self[$0]) }
            + numbers.map { Canary(name: $0.0, text: $0.1) }
            + pins.map { Canary(name: $0.0, text: $0.1, isShort: true) }
            // Made by chance: whoever has a hash of it cannot find it.
            + [Canary(name: "push token", text: self.pushToken, isGuessable: false)] + secrets
    }
}
