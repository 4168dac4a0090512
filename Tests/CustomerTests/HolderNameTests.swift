import Contracts
import Testing

@testable import CustomerService

@Suite("Whose name an account is in")
struct HolderNameTests {
    private func person(_ name: String) -> CustomerDetails {
        CustomerDetails(person: KYCDetails(fullName: name, bvn: "22212345678", dateOfBirth: "1994-02-28"))
    }

    @Test(
        "order, case, accents, titles, initials and cut-off ends do not matter",
        arguments: [
            ("ADAEZE CHIDINMA OKONKWO", "Adaeze Chidinma Okonkwo"), ("OKONKWO ADAEZE", "Adaeze Chidinma Okonkwo"),
            ("Okonkwo, Adaeze C.", "Adaeze Chidinma Okonkwo"), ("MRS ADAEZE OKONKWO-BELLO", "Adaeze Okonkwo"),
            ("ADEBAYO OLUWASEUN", "Adébáyọ̀ Olúwaṣeun"), ("CHIDINMA OKON", "Chidinma Okonkwo"),
            ("ADAEZE ONEILL", "Adaeze O'Neill"), ("ALHAJI MUSA IBRAHIM", "Musa Ibrahim"),
        ]
    )
    func same(holder: String, name: String) {
        #expect(HolderName(holder).isName(of: self.person(name)))
    }

    @Test(
        "one shared word, a title, an initial or a few letters are not a name",
        arguments: [
            ("BAYO OKONKWO", "Adaeze Okonkwo"), ("MR A OKONKWO", "Mr A Okonkwo"), ("ADAEZE O", "Adaeze Okonkwo"),
            ("ADAEZE ADAEZE", "Adaeze Okonkwo"), ("ADA OKO", "Adaeze Okonkwo"), ("", "Adaeze Okonkwo"),
            ("SOMEBODY ELSE", "Adaeze Okonkwo"), ("OKONKWO", "Okonkwo Okonkwo"),
        ]
    )
    func different(holder: String, name: String) {
        #expect(!HolderName(holder).isName(of: self.person(name)))
    }

    @Test("a business is known by its name; only one that is no person of its own by its owner's")
    func business() {
        var business = Sample.business
        let details = { CustomerDetails(business: business) }
        #expect(HolderName("OKONKWO FOODS LIMITED").isName(of: details()))
        #expect(!HolderName("OKONKWO MOTORS LIMITED").isName(of: details()))
        #expect(!HolderName("LIMITED NIGERIA").isName(of: details()))
        #expect(!HolderName("ADAEZE CHIDINMA OKONKWO").isName(of: details()))
        business.registrationType = "Business_Name"
        #expect(HolderName("ADAEZE CHIDINMA OKONKWO").isName(of: details()))
        business.businessName = "Kiosk"
        #expect(HolderName("KIOSK ENTERPRISES").isName(of: details()))
    }

    @Test("who has given no details has no name")
    func nobody() {
        #expect(!HolderName("ADAEZE OKONKWO").isName(of: CustomerDetails()))
    }
}
