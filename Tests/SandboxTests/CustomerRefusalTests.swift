import AnchorClient
import Foundation
import NIOHTTP1
import OutgoingHTTP
import Testing

@testable import SandboxService

@Suite("The sandbox refuses customers and accounts that Anchor refuses", .timeLimit(.minutes(2)))
struct CustomerRefusalTests {
    @Test("a request without the key, or with a wrong one, is unauthorised")
    func keys() async throws {
        try await withSandbox { sandbox in
            let without = try await sandbox.send(.get, "/api/v1/banks", headers: ["x-anchor-key": ""])
            #expect(without.status == 401)
            await #expect(throws: AnchorError.unauthorised) { try await sandbox.client(apiKey: "wrong").banks() }
        }
    }

    @Test("while a key is being replaced both are taken and counted, and afterwards the new one alone")
    func replacedKey() async throws {
        try await withSandbox { sandbox in
            try await sandbox.control(.put, "anchor/keys", ["keys": [.string(SandboxHandle.apiKey), "new-key"]])
            _ = try await sandbox.client.banks()
            _ = try await sandbox.client(apiKey: "new-key").banks()
            let both = try await sandbox.control(.get, "anchor/keys")
            #expect(both["keys"]?.items?.map { $0["calls"] } == [1, 1] && both["refused"] == 0)
            #expect(!String(decoding: both.bytes, as: UTF8.self).contains("new-key"))
            try await sandbox.control(.put, "anchor/keys", ["keys": ["new-key"]])
            await #expect(throws: AnchorError.unauthorised) { try await sandbox.client.banks() }
            _ = try await sandbox.client(apiKey: "new-key").banks()
            #expect(try await sandbox.control(.get, "anchor/keys")["refused"] == 1)
            for wrong: JSON in [["keys": []], ["keys": [""]], [:]] {
                #expect(try await sandbox.send(.put, "/sandbox/anchor/keys", wrong).status == 400)
            }
        }
    }

    @Test(
        "a phone number that is not 11 digits in local form is refused",
        arguments: ["+2348031234567", "8031234567", "080312345678", "0803123456a", ""]
    )
    func phone(_ number: String) async throws {
        try await withSandbox { sandbox in
            var person = Samples.person(email: "a@transfa.test")
            person.phoneNumber = number
            await #expect(throws: AnchorError.refused(status: 400, title: "Bad Request", code: .invalidPhoneNumber)) {
                try await sandbox.client.createIndividualCustomer(person)
            }
        }
    }

    @Test("a missing field is refused by its name", arguments: ["fullName", "address", "email", "phoneNumber"])
    func missingField(_ name: String) async throws {
        try await withSandbox { sandbox in
            var attributes: [String: JSON] = [
                "fullName": ["firstName": "Test", "lastName": "Person"], "email": "a@transfa.test",
                "phoneNumber": "08000000001",
                "address": [
                    "addressLine_1": "1 Test Street", "city": "Ikeja", "state": "Lagos", "postalCode": "100001",
                    "country": "NG",
                ],
            ]
            attributes[name] = nil
            let body: JSON = ["data": ["type": "IndividualCustomer", "attributes": .object(attributes)]]
            let (status, json) = try await sandbox.send(.post, "/api/v1/customers", body)
            #expect(status == 400)
            #expect(json["errors"]?.items?.first?["detail"]?.text?.hasPrefix(name) == true)
        }
    }

    @Test("a second customer with the same e-mail address already exists, and can be found")
    func duplicateEmail() async throws {
        try await withSandbox { sandbox in
            let first = try await sandbox.client.createIndividualCustomer(Samples.person(email: "a@transfa.test"))
            await #expect(throws: AnchorError.refused(status: 400, title: "Bad Request", code: .alreadyExists)) {
                try await sandbox.client.createIndividualCustomer(Samples.person(email: "A@transfa.test"))
            }
            #expect(try await sandbox.client.findCustomer(email: "a@transfa.test") == first)
            #expect(try await sandbox.client.findCustomer(email: "b@transfa.test") == nil)
        }
    }

    @Test("a customer's record can be replaced until the customer is verified, and not by another's address")
    func update() async throws {
        try await withSandbox { sandbox in
            let first = try await sandbox.client.createIndividualCustomer(Samples.person(email: "a@transfa.test"))
            _ = try await sandbox.client.createIndividualCustomer(Samples.person(email: "b@transfa.test"))
            var person = Samples.person(email: "b@transfa.test")
            await #expect(throws: AnchorError.refused(status: 400, title: "Bad Request", code: .alreadyExists)) {
                try await sandbox.client.updateIndividualCustomer(id: first.id, person)
            }
            person.email = "c@transfa.test"
            try await sandbox.client.updateIndividualCustomer(id: first.id, person)
            #expect(try await sandbox.client.findCustomer(email: "c@transfa.test")?.id == first.id)
            #expect(try await sandbox.client.findCustomer(email: "a@transfa.test") == nil)
            let account = try await sandbox.personWithAccount()
            let verified = try #require(account.customerID)
            await #expect(throws: AnchorError.refused(status: 412, title: "Precondition Failed", code: .precondition)) {
                try await sandbox.client.updateIndividualCustomer(id: verified, person)
            }
        }
    }

    @Test("a deposit account before the approval is refused with 412")
    func accountBeforeApproval() async throws {
        try await withSandbox { sandbox in
            let customer = try await sandbox.client.createIndividualCustomer(Samples.person(email: "a@transfa.test"))
            let refusal = AnchorError.refused(status: 412, title: "Precondition Failed", code: .verificationRequired)
            await #expect(throws: refusal) {
                try await sandbox.client.createDepositAccount(customerID: customer.id, kind: .individual)
            }
        }
    }

    @Test("a product that does not fit the kind of customer is refused")
    func wrongProduct() async throws {
        try await withSandbox { sandbox in
            let account = try await sandbox.personWithAccount()
            let customer = try #require(account.customerID)
            let body: JSON = [
                "data": [
                    "type": "DepositAccount", "attributes": ["productName": "CURRENT"],
                    "relationships": ["customer": .link(customer, "IndividualCustomer")],
                ]
            ]
            let (status, json) = try await sandbox.send(.post, "/api/v1/accounts", body)
            #expect(status == 400)
            let detail = json["errors"]?.items?.first?["detail"]
            #expect(detail == "The product CURRENT is not allowed for the selected customer type")
        }
    }

    @Test("level TIER_1 is refused although the prose calls the BVN level so")
    func wrongLevel() async throws {
        try await withSandbox { sandbox in
            let customer = try await sandbox.client.createIndividualCustomer(Samples.person(email: "a@transfa.test"))
            let level: JSON = ["bvn": "22222222222", "dateOfBirth": "1990-01-01", "gender": "Male"]
            let body: JSON = [
                "data": ["type": "Verification", "attributes": ["level": "TIER_1", "level2": level]]
            ]
            let path = "/api/v1/customers/\(customer.id)/verification/individual"
            #expect(try await sandbox.send(.post, path, body).status == 400)
        }
    }

    @Test(
        "the end of a BVN decides the identification",
        arguments: zip(
            ["22222229990", "22222229991", "22222229993"],
            [VerificationStatus.rejected, .manualReview, .unverified]
        )
    )
    func verificationEndings(_ bvn: String, _ status: VerificationStatus) async throws {
        try await withSandbox { sandbox in
            let customer = try await sandbox.client.createIndividualCustomer(Samples.person(email: "a@transfa.test"))
            let verification = Samples.verification(bvn: bvn)
            try await sandbox.client.startIndividualVerification(customerID: customer.id, verification)
            let seen = try await sandbox.eventually("the end of the identification") {
                let status = try await sandbox.client.customer(id: customer.id).verification
                return status == .pending ? nil : status
            }
            #expect(seen == status)
        }
    }

    @Test("a trade without its category is refused", arguments: ["Agriculture", "A-B-C", "Food and drink"])
    func industry(_ name: String) async throws {
        try await withSandbox { sandbox in
            var business = Samples.business(email: "shop@transfa.test")
            business.detail.industry = name
            let wrong = business
            await #expect(throws: AnchorError.refused(status: 400, title: "Bad Request", code: .other)) {
                try await sandbox.client.createBusinessCustomer(wrong)
            }
        }
    }

    @Test("owners whose shares do not add up to 100 are refused")
    func owners() async throws {
        try await withSandbox { sandbox in
            var business = Samples.business(email: "shop@transfa.test")
            business.officers[0].percentageOwned = 60
            let wrong = business
            await #expect(throws: AnchorError.refused(status: 400, title: "Bad Request", code: .other)) {
                try await sandbox.client.createBusinessCustomer(wrong)
            }
        }
    }

    @Test("unknown customers and accounts are not found")
    func unknownIDs() async throws {
        try await withSandbox { sandbox in
            await #expect(throws: AnchorError.notFound) { try await sandbox.client.customer(id: "1-anc_ind_cst") }
            await #expect(throws: AnchorError.notFound) { try await sandbox.client.depositAccount(id: "1-anc_acc") }
            await #expect(throws: AnchorError.notFound) { try await sandbox.client.balance(accountID: "1-anc_acc") }
            await #expect(throws: AnchorError.notFound) {
                try await sandbox.client.inboundPayment(id: "1-anc_inb_trsf")
            }
        }
    }
}
