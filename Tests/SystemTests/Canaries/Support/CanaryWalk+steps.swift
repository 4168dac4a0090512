import Contracts
import Foundation
import Primitives
import Sealing
import TestSupport

/// What the walker does, step by step.
extension CanaryWalk {
    /// Signs up, after many bad tries; another one tries with the same address.
    func signUp() async throws -> Person {
        let words = self.canaries
        for body in try Self.spoiled(words.person, by: words["bad body"]) {
            try await self.send("POST", .auth, "/onboarding", body)
        }
        for body in try Self.spoiled(DeviceRequest(name: "a", publicKey: "b", pin: "1234"), by: words["bad body"]) {
            try await self.send("POST", .auth, "/devices", body)
        }
        let person = try await self.suite.join(
            words.person,
            as: self.subject,
            pin: words.pin,
            phone: "\(words["phone's name"])'s phone"
        )
        self.note("account number", person.accountNumber, isGuessable: true)
        try await self.send("POST", .auth, "/onboarding", RunningSuite.json(words.person))
        let details = OnboardingDetailsRequest(kycDetails: words.person.kycDetails, contactDetails: words.contact)
        try await self.send("PUT", .auth, "/onboarding/details", RunningSuite.json(details))
        var twin = words.person
        twin.username = "\(words.username)2"
        // The same person once more, and then another with the same address.
        let second = try RunningSuite.json(twin)
        _ = try self.must(
            "a second",
            try await self.send("POST", .auth, "/onboarding", second, as: "\(self.subject)2"),
            [409]
        )
        twin.kycDetails?.bvn = words.twinsBVN
        let body = try RunningSuite.json(twin)
        _ = try self.must("a twin", try await self.send("POST", .auth, "/onboarding", body, as: "\(self.subject)2"))
        try await eventually("the twin to be refused", within: .seconds(30), every: .milliseconds(100)) {
            let status = try await self.suite.call("GET", .auth, "/onboarding/status", as: "\(self.subject)2")
            return try status.decode(OnboardingStatusResponse.self).status == "rejected"
        }
        return person
    }

    /// A business with everything that can be said of one.
    func signUpBusiness() async throws -> Person {
        let words = self.canaries
        let shop = try await self.suite.join(words.business, as: "user_system_\(words.shopname)", pin: words.newPIN)
        self.note("business account number", shop.accountNumber, isGuessable: true)
        return shop
    }

    /// Wrong PINs, another PIN, and a payment that the new one approves.
    func usePIN(_ person: Person, _ friend: Person) async throws {
        let words = self.canaries
        for body in try Self.spoiled(PINRequest(pin: "1234", currentPin: "1234"), by: words["bad body"]) {
            try await self.send("PUT", .auth, "/pin", body)
        }
        let wrong = PINRequest(pin: words.newPIN, currentPin: words.wrongPIN)
        _ = try self.must("a wrong PIN", try await self.send("PUT", .auth, "/pin", RunningSuite.json(wrong)), [403])
        let right = PINRequest(pin: words.newPIN, currentPin: words.pin)
        _ = try self.must("another PIN", try await self.send("PUT", .auth, "/pin", RunningSuite.json(right)))
        let text = words["payment's description"]
        let body = try RunningSuite.json(
            P2PRequest(recipientUsername: friend.username, amount: 300, description: "For \(text)")
        )
        let ask = { (pin: String) in
            let hash = ApprovalText.sha256(body)
            let order = ApprovalRequest(pin: pin, method: "POST", path: PaymentOrder.path, bodySha256: hash)
            return try await self.send("POST", .auth, "/approvals", RunningSuite.json(order))
        }
        _ = try self.must("the old PIN", try await ask(words.pin), [403])
        let approval = try self.must("an approval", try await ask(words.newPIN)).decode(ApprovalResponse.self)
        self.note(token: approval.approvalToken, "an approval")
        let header = [ApprovalHeader.name: "pin \(approval.approvalToken)"]
        for status in [202, 403] {
            let reply = try await self.send("POST", .transaction, PaymentOrder.path, body, headers: header)
            _ = try self.must("a payment by PIN", reply, [status])
        }
    }

    /// In whose names the banks keep the accounts: the walker's, with a name that we are not told otherwise, and a stranger's.
    private func nameHolders() async throws {
        let words = self.canaries
        let walker = "\(words["family name"]) \(words["holder's other name"]) \(words["given name"])"
        let stranger = "\(words["other holder"]) SOMEBODY"
        for (number, name) in [(words.bankAccount, walker), (words.askedAccount, stranger)] {
            let path = "/sandbox/banks/accounts/\(number)/holder"
            let named = try await self.suite.sandbox("PUT", path, #"{"name":"\#(name)"}"#)
            _ = try self.must("a holder's name", named)
        }
    }

    /// Bank accounts: asked about, in another name, added, chosen.
    func addBankAccounts(_ person: Person) async throws -> UUID {
        let words = self.canaries
        try await self.nameHolders()
        let order = { (number: String) in
            try RunningSuite.json(BeneficiaryRequest(accountNumber: number, bankCode: "000013"))
        }
        for number in [words.askedAccount, words.noAccount] {
            try await self.send("POST", .customer, "/beneficiaries/verify", order(number))
        }
        let good = BeneficiaryRequest(accountNumber: words.bankAccount, bankCode: "000013")
        for body in try Self.spoiled(good, by: words["bad body"]) {
            try await self.send("POST", .customer, "/beneficiaries", body)
        }
        try await self.send("POST", .customer, "/beneficiaries", order(words.noAccount))
        let foreign = try await self.send("POST", .customer, "/beneficiaries", order(words.askedAccount))
        _ = try self.must("somebody else's account", foreign, [422])
        let key = ["Idempotency-Key": "walk-bank-\(words.run)"]
        let added = try await self.send("POST", .customer, "/beneficiaries", order(words.bankAccount), headers: key)
        let bank = try self.must("a bank account", added).decode(BeneficiaryResource.self)
        let sql = "SELECT count(*) FROM default_beneficiary('\(person.id)')"
        try await eventually("a verified bank account", within: .seconds(30), every: .milliseconds(100)) {
            try await self.suite.number(sql) == 1
        }
        // The answer that is kept is the one that is given again.
        let again = try await self.send("POST", .customer, "/beneficiaries", order(words.bankAccount), headers: key)
        let shown = try self.must("the same again", again).decode(BeneficiaryResource.self)
        let path = "/beneficiaries/\(bank.id.lowercased)/default"
        let chosen = try await self.twice("PUT", .customer, path, of: BeneficiaryResource.self)
        guard shown.accountName?.contains(words["holder's other name"]) == true,
            chosen.accountName == shown.accountName,
            chosen.accountNumber == shown.accountNumber, !chosen.accountNumber.hasPrefix("s1.")
        else { throw TestFailure("the bank account is shown as \(shown) and \(chosen)") }
        return bank.id
    }

    /// Sends a request twice under one key; the second answer must be the first.
    func twice<Value: Decodable>(
        _ method: String,
        _ service: ServiceName,
        _ path: String,
        _ body: [UInt8] = [],
        of type: Value.Type
    ) async throws -> Value {
        let key = ["Idempotency-Key": "walk-twice-\(UUID().lowercased)"]
        let first = try self.must(path, try await self.send(method, service, path, body, headers: key))
        let second = try self.must(path, try await self.send(method, service, path, body, headers: key))
        guard second.isReplay, second.body == first.body, second.status == first.status else {
            throw TestFailure("\(path) was answered \(first.text), then \(second.text)")
        }
        return try second.decode(type)
    }

    /// Money from outside, between people, to a bank, and much that is refused.
    func moveMoney(_ person: Person, _ friend: Person, to bank: UUID) async throws -> UUID {
        let words = self.canaries
        let text = words["payment's description"]
        var payments: [UUID] = []
        for (payer, payee) in [(person, friend), (friend, person)] {
            let asked = try RunningSuite.json(QuoteRequest(recipientUsername: payee.username, amount: 700))
            let quoted = try await self.send("POST", .transaction, "/transactions/quote", asked, as: payer.subject)
            let quote = try self.must("a quote", quoted).decode(QuoteResponse.self).quoteID
            self.note("id of a quote", quote)
            let order = P2PRequest(
                recipientUsername: payee.username,
                amount: 700,
                description: "For \(text)/2",
                quoteID: quote
            )
            let paid = try self.must("a payment", try await self.order(PaymentOrder.path, order, as: payer))
            payments.append(try paid.decode(P2PResponse.self).transactionID)
            var other = order
            other.amount += 1
            _ = try self.must("another order", try await self.order(PaymentOrder.path, other, as: payer), [400])
        }
        let much = P2PRequest(recipientUsername: friend.username, amount: 4_000_000, description: text)
        try await self.order(PaymentOrder.path, much, as: person)
        for body in try Self.spoiled(much, by: words["bad body"]) {
            try await self.send("POST", .transaction, PaymentOrder.path, body)
        }
        let withdrawal = SelfTransferRequest(beneficiaryID: bank, amount: 500)
        _ = try self.must("a withdrawal", try await self.order("/transactions/self-transfer", withdrawal, as: person))
        for path in ["/transactions", "/statements?from=2026-01-01&to=2026-01-31", "/wallet", "/limits"] {
            try await self.send("GET", .transaction, path)
        }
        return payments[0]
    }

    /// Money from a bank, whose words we do not keep.
    func receive(_ person: Person) async throws {
        let words = self.canaries
        let before = try await self.suite.wallet(person).posted
        for events in ["nip", "both"] {
            let order = """
                {"amount":50000,"events":"\(events)","payer_name":"\(words["payer's name"]) Payer",\
                "payer_account_number":"\(words.payersAccount)","narration":"\(words["narration"])"}
                """
            let funded = try await self.suite.sandbox("POST", "/sandbox/accounts/\(person.accountNumber)/fund", order)
            _ = try self.must("money from outside", funded)
        }
        try await eventually("the money from outside", within: .seconds(30), every: .milliseconds(100)) {
            try await self.suite.wallet(person).posted == before + 100_000
        }
    }

    /// A request with words on both sides, and one that is declined.
    func askForMoney(_ person: Person, _ friend: Person) async throws {
        let words = self.canaries
        let ask = PaymentRequestRequest(
            amount: 400,
            payerUsername: friend.username,
            description: words["request's description"]
        )
        for body in try Self.spoiled(ask, by: words["bad body"]) {
            try await self.send("POST", .transaction, "/payment-requests", body)
        }
        let body = try RunningSuite.json(ask)
        let made = try await self.twice(
            "POST",
            .transaction,
            "/payment-requests",
            body,
            of: PaymentRequestResource.self
        )
        guard made.description == words["request's description"] else { throw TestFailure("it says \(made)") }
        try await self.illustrate("/payment-requests/\(made.id.lowercased)/image", of: .transaction)
        let pay = PayRequestRequest(description: words["description of a request's payment"])
        let paid = try await self.order("/payment-requests/\(made.id.lowercased)/pay", pay, as: friend)
        _ = try self.must("a paid request", paid)
        try await self.send("GET", .transaction, "/payment-requests")
    }
}
