import AnchorClient
import Contracts
import Foundation
import Primitives
import Testing

@testable import CustomerService

@Suite("Customer's rules")
struct DomainTests {
    @Test("a full name has a first and a last part")
    func names() {
        #expect(NameParts("Ada") == nil)
        #expect(NameParts("Ada Obi").map { [$0.first, $0.middle, $0.last] } == ["Ada", nil, "Obi"])
        #expect(NameParts("Ada Mary Jane Obi").map { [$0.first, $0.middle, $0.last] } == ["Ada", "Mary Jane", "Obi"])
    }

    @Test("receive-only is for merchants, and what a request leaves out stays")
    func settings() throws {
        let off = try SettingsChange(checking: SettingsRequest(allowSending: false))
        #expect(throws: CustomerError.merchantsOnly) { try UserSettings().applying(off, to: .personal) }
        #expect(throws: CustomerError.merchantsOnly) { try UserSettings().applying(off, to: nil) }
        let quiet = try UserSettings().applying(off, to: .merchant)
        #expect(quiet == UserSettings(allowSending: false, receivingPreference: .external))
        let wallet = try SettingsChange(checking: SettingsRequest(receivingPreference: "wallet"))
        let both = try quiet.applying(wallet, to: .merchant)
        #expect(both == UserSettings(allowSending: false, receivingPreference: .wallet))
        #expect(throws: FieldProblem(pointer: "/receiving_preference", rule: .receivingPreference)) {
            try SettingsChange(checking: SettingsRequest(receivingPreference: "bank"))
        }
    }

    @Test("a restriction is a known word and its reason a code")
    func restriction() throws {
        #expect(try RestrictionOrder(restriction: "frozen", reason: "court_order_7").restriction == .frozen)
        #expect(throws: FieldProblem(pointer: "/restriction", rule: .restriction)) {
            try RestrictionOrder(restriction: "gone", reason: "x")
        }
        for reason in ["", "He owes money", String(repeating: "a", count: 65), "Ärger"] {
            #expect(throws: FieldProblem(pointer: "/reason", rule: .reason)) {
                try RestrictionOrder(restriction: "none", reason: reason)
            }
        }
    }

    @Test("the provider's forms need every part")
    func forms() {
        let (user, email) = (UserID(clerkSubject: "user_ada"), "stand-in@people.transfa.test")
        let details = CustomerDetails(person: Sample.person, business: Sample.business, contact: Sample.contact)
        let person = ProviderForms.individual(details, email: email, user: user)
        #expect(person?.fullName.middleName == "Chidinma" && person?.address.state == "AKWA_IBOM")
        let business = ProviderForms.business(details, email: email, user: user)
        #expect(business?.officers.map(\.percentageOwned) == [100])
        #expect(person?.email == email && business?.contact.email == email && business?.officers.first?.email == email)
        #expect(ProviderForms.verification(details)?.gender == .female)
        var less = details
        less.contact?.gender = nil
        #expect(
            ProviderForms.individual(less, email: email, user: user) == nil && ProviderForms.verification(less) == nil
        )
        let cuts: [(inout CustomerDetails) -> Void] = [
            { $0.business = nil }, { $0.contact = nil }, { $0.business?.industry = nil },
            { $0.business?.registrationType = nil }, { $0.business?.businessBvn = nil },
            { $0.business?.dateOfRegistration = nil }, { $0.business?.description = nil },
            { $0.business?.director = nil },
        ]
        for cut in cuts {
            var incomplete = details
            cut(&incomplete)
            #expect(ProviderForms.business(incomplete, email: email, user: user) == nil)
        }
    }

    @Test("numbers are shown by their last four digits")
    func masked() {
        #expect(BankAccount.masked("0123456789") == "******6789")
    }

    @Test("the book keeps one default, and the oldest follows one that is removed")
    func book() {
        let ids = (0..<3).map { _ in UUID() }
        var book = BeneficiaryBook()
        let added = ids.enumerated().map { index, id in
            book.add(.init(id: id, createdAt: Date(timeIntervalSince1970: Double(index))))
        }
        #expect(added == [true, false, false])
        let chosen = [UUID(), ids[2], ids[2]].map { book.choose($0) }
        #expect(chosen == [nil, true, false])
        let removed = [ids[1], ids[2]].map { book.remove($0) }
        #expect(removed == [false, true])
        #expect(book.defaultID == ids[0])
        let isChanged = book.remove(ids[0])
        #expect(isChanged)
        #expect(book.defaultID == nil)
    }
}
