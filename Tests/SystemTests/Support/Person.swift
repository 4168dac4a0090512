import Contracts
import Foundation
import Primitives
import Sealing
import TestSupport

/// Somebody who has signed up, is verified, and has a wallet and a phone that approves payments.
struct Person: Sendable {
    let username: String
    let subject: String
    let id: UUID
    let accountNumber: String
    let device: UUID
    let key: DevicePrivateKey
}

extension RunningSuite {
    static let pin = "482193"

    /// Signs somebody new up, up to the wallet, with `funding` kobo in it.
    func person(_ name: String, funding: Int64 = 0) async throws -> Person {
        let person = try await self.join(name) { Self.signUp(username: $0, run: $1) }
        if funding > 0 { try await self.fund(person, funding) }
        return person
    }

    /// Signs a merchant up who only receives, up to the wallet.
    func merchant(_ name: String) async throws -> Person {
        try await self.join(name) { username, run in
            var order = Self.signUp(username: username, run: run)
            order.accountType = "merchant"
            order.kybDetails = KYBDetails(
                businessName: "Invented Shop",
                rcNumber: "RC\(run)",
                registrationType: "Private_Incorporated",
                industry: "Agriculture-AgriculturalCooperatives",
                dateOfRegistration: "2015-06-01",
                businessBvn: "222\(run)7",
                description: "Sells what nobody needs",
                director: order.kycDetails
            )
            order.kycDetails = nil
            return order
        }
    }

    private func join(
        _ name: String,
        _ signUp: (_ username: String, _ run: String) -> OnboardingRequest
    ) async throws -> Person {
        let run = String(Int.random(in: 1_000_000...9_999_999))
        let username = "\(name)\(run)"
        return try await self.join(signUp(username, run), as: "user_system_\(username)")
    }

    /// Signs somebody up with these details, with a PIN and a phone.
    func join(
        _ order: OnboardingRequest,
        as subject: String,
        pin: String = RunningSuite.pin,
        phone name: String = "Invented phone"
    ) async throws -> Person {
        let keyed = { ["Idempotency-Key": "join-\(UUID().lowercased)"] }
        let body = try Self.json(order)
        let signed = try await self.call("POST", .auth, "/onboarding", as: subject, headers: keyed(), body: body)
        let id = try signed.decode(OnboardingResponse.self).userID
        let pinned = try await self.call("PUT", .auth, "/pin", as: subject, body: Self.json(PINRequest(pin: pin)))
        guard pinned.status == 204 else { throw TestFailure("the PIN was answered \(pinned.status) \(pinned.text)") }
        let key = DevicePrivateKey()
        let phone = try Self.json(
            DeviceRequest(name: name, publicKey: Base64URL.encode(key.publicKey.x963), pin: pin)
        )
        let registered = try await self.call("POST", .auth, "/devices", as: subject, headers: keyed(), body: phone)
        let device = try registered.decode(DeviceResource.self).id
        let number = try await self.accountNumber(of: subject)
        try await self.ready(id, device)
        return Person(
            username: order.username,
            subject: subject,
            id: id,
            accountNumber: number,
            device: device,
            key: key
        )
    }

    static func json(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(value))
    }

    /// A complete sign-up of a person; `run` are seven digits.
    static func signUp(username: String, run: String) -> OnboardingRequest {
        OnboardingRequest(
            username: username,
            accountType: "personal",
            kycDetails: KYCDetails(fullName: "Ada Testperson", bvn: "221\(run)7", dateOfBirth: "1990-01-01"),
            contactDetails: ContactDetails(
                email: "\(username)@example.com",
                phone: "000\(run)1",
                gender: "Female",
                address: PostalAddress(line1: "1 Example Street", city: "Lagos", state: "Lagos", postalCode: "100001")
            )
        )
    }

    private func accountNumber(of subject: String) async throws -> String {
        try await eventually("an account", within: .seconds(30), every: .milliseconds(100)) {
            let answer = try await self.call("GET", .account, "/accounts/me", as: subject)
            guard answer.status == 200 else { return nil }
            let account = try answer.decode(AccountResource.self)
            return account.status == "open" ? account.accountNumber : nil
        }
    }

    /// Until transaction has heard of everything that a payment needs.
    private func ready(_ user: UUID, _ device: UUID) async throws {
        let sql = """
            SELECT count(*) FROM users u JOIN devices d ON d.user_id = u.id WHERE u.id = '\(user)' AND d.id = '\(device)'
                AND u.username IS NOT NULL AND u.provider_account IS NOT NULL AND u.kyc_status = 'approved'
            """
        try await eventually("transaction to know the person", within: .seconds(30), every: .milliseconds(100)) {
            try await self.number(sql) == 1
        }
    }

    /// Adds a verified bank account, to which payments go while there are free slots.
    func addBankAccount(of person: Person) async throws {
        let number = "00\(person.username.suffix(7))7"
        let order = try Self.json(BeneficiaryRequest(accountNumber: number, bankCode: "000013"))
        let added = try await self.call("POST", .customer, "/beneficiaries", as: person.subject, body: order)
        guard [201, 202].contains(added.status) else { throw TestFailure("the bank account: \(added.text)") }
        let sql = "SELECT count(*) FROM default_beneficiary('\(person.id)')"
        try await eventually("a verified bank account", within: .seconds(30), every: .milliseconds(100)) {
            try await self.number(sql) == 1
        }
    }

    // MARK: Money

    func wallet(_ person: Person) async throws -> WalletResource {
        try await self.call("GET", .transaction, "/wallet", as: person.subject).decode(WalletResource.self)
    }

    /// Sends money to somebody's account from outside and waits until the wallet has it.
    func fund(_ person: Person, _ amount: Int64) async throws {
        let before = try await self.wallet(person).posted
        let path = "/sandbox/accounts/\(person.accountNumber)/fund"
        let funded = try await self.sandbox("POST", path, #"{"amount":\#(amount)}"#)
        guard funded.status == 201 else { throw TestFailure("funding was answered \(funded.text)") }
        try await eventually("the money to be in the wallet", within: .seconds(30), every: .milliseconds(50)) {
            try await self.wallet(person).posted == before + amount
        }
    }
}
