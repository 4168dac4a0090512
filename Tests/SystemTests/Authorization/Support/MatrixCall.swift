import Contracts
import Foundation
import Primitives
import Sealing
import TestSupport

/// One request of the authorization matrix; what it is about was made before.
struct MatrixCall: Sendable {
    let path: String
    var body: [UInt8] = []
    var contentType = "application/json"
    /// Clerk's name of who asks, when it is not the asker's person.
    var subject: String?
}

extension MatrixWorld {
    /// The request that an asker sends to an operation: a stranger, and nobody, the very one that the owner sends.
    ///
    /// A GET without an id in its path needs no word here; whatever else is described does.
    func call(_ endpoint: Endpoint, as asker: Asker) throws -> MatrixCall {
        let own = self.belongings(asker)
        if let call = try self.readCall(endpoint, own) ?? self.profileCall(endpoint, own, asker)
            ?? self.moneyCall(endpoint, own, asker) ?? self.documentCall(endpoint, asker)
            ?? self.otherCall(endpoint, own)
        {
            return call
        }
        guard endpoint.method == "GET", !endpoint.path.contains("{") else {
            throw TestFailure("MatrixWorld.call() knows no request for \(endpoint.name)")
        }
        return MatrixCall(path: endpoint.goodPath)
    }

    // MARK: Reading

    private func readCall(_ endpoint: Endpoint, _ own: Belongings) -> MatrixCall? {
        switch endpoint.name {
        case "GET /analytics/transactions/{id}/category", "DELETE /analytics/transactions/{id}/category",
            "GET /transactions/{id}", "GET /transactions/{id}/receipt", "GET /transactions/{id}/disputes":
            Self.about(own.transfer, endpoint)
        case "GET /beneficiaries/verify/{id}": Self.about(own.enquiry, endpoint)
        case "GET /beneficiaries/{id}", "PUT /beneficiaries/{id}/default", "DELETE /beneficiaries/{id}":
            Self.about(own.bank, endpoint)
        case "GET /images/{key}": MatrixCall(path: own.image)
        case "GET /request-images/{key}": MatrixCall(path: own.requestImage)
        case "DELETE /payment-requests/{id}/image": Self.about(own.asked, endpoint)
        case "GET /money-drops/{id}", "GET /money-drops/{id}/claims", "GET /money-drops/{id}/qr",
            "POST /money-drops/{id}/end":
            Self.about(own.drop, endpoint)
        case "GET /payment-requests/{id}", "GET /payment-requests/{id}/qr": Self.about(own.asked, endpoint)
        case "DELETE /payment-requests/{id}": Self.about(own.toCancel, endpoint)
        case "POST /payment-requests/{id}/decline": Self.about(own.toDecline, endpoint)
        case "GET /users": MatrixCall(path: "/users?query=\(own.person.username)")
        case "PUT /users/{username}/block", "DELETE /users/{username}/block":
            MatrixCall(path: endpoint.path(with: ["username": self.nuisance.username]))
        case "GET /users/{username}": MatrixCall(path: "/users/\(own.person.username)")
        case "DELETE /devices/{id}": Self.about(own.device, endpoint)
        case "DELETE /push-tokens/{id}": Self.about(own.pushToken, endpoint)
        case "POST /notifications/{id}/read": Self.about(own.notification, endpoint)
        default: nil
        }
    }

    private static func about(_ id: UUID, _ endpoint: Endpoint) -> MatrixCall {
        MatrixCall(path: endpoint.path(with: ["id": id.lowercased]))
    }

    // MARK: The person

    private func profileCall(_ endpoint: Endpoint, _ own: Belongings, _ asker: Asker) throws -> MatrixCall? {
        var newcomer = RunningSuite.signUp(username: "newcomer\(self.run)", run: self.run)
        let contact = newcomer.contactDetails
        // Without it the sign-up waits for details, which are what comes next.
        newcomer.contactDetails = nil
        var call: MatrixCall
        switch endpoint.name {
        case "POST /onboarding": call = try Self.with(newcomer, endpoint)
        case "PUT /onboarding/details":
            let details = OnboardingDetailsRequest(
                kycDetails: newcomer.kycDetails,
                contactDetails: contact ?? Self.nowhere
            )
            call = try Self.with(details, endpoint)
        case "PUT /pin": return try Self.with(PINRequest(pin: RunningSuite.pin, currentPin: RunningSuite.pin), endpoint)
        case "POST /pin/reset": return try Self.with(PINResetRequest(pin: RunningSuite.pin), endpoint)
        case "POST /approvals":
            let hash = ApprovalText.sha256(Array("{}".utf8))
            let order = ApprovalRequest(
                pin: RunningSuite.pin,
                method: "POST",
                path: PaymentOrder.path,
                bodySha256: hash
            )
            return try Self.with(order, endpoint)
        case "POST /devices": return MatrixCall(path: endpoint.path, body: try RunningSuite.phone())
        case "PUT /users/me/image":
            return MatrixCall(path: endpoint.path, body: Belongings.picture, contentType: "image/png")
        case "DELETE /users/me/image": return MatrixCall(path: endpoint.path)
        case "PUT /users/me/settings": return try Self.with(SettingsRequest(whoMayRequest: "everyone"), endpoint)
        case "PUT /notifications/preferences":
            return try Self.with(NotificationPreferencesRequest(showAmounts: true), endpoint)
        case "POST /notifications/read-all": return try Self.with(ReadAllRequest(upTo: own.notification), endpoint)
        case "POST /push-tokens":
            return try Self.with(PushTokenRequest(token: String(repeating: "0a", count: 32)), endpoint)
        default: return nil
        }
        // Everybody else has signed up already.
        if asker == .owner { call.subject = self.newcomer }
        return call
    }

    private static let nowhere = ContactDetails(
        email: "nobody@example.com",
        phone: "00000000000",
        address: PostalAddress(line1: "1 Example Street", city: "Lagos", state: "Lagos", postalCode: "100001")
    )

    private static func with(_ body: some Encodable, _ endpoint: Endpoint) throws -> MatrixCall {
        MatrixCall(path: endpoint.path, body: try RunningSuite.json(body))
    }

    // MARK: Money

    private func moneyCall(_ endpoint: Endpoint, _ own: Belongings, _ asker: Asker) throws -> MatrixCall? {
        switch endpoint.name {
        case "POST /transactions/p2p":
            return try Self.with(P2PRequest(recipientUsername: self.partner.username, amount: 100), endpoint)
        case "POST /transactions/self-transfer":
            return try Self.with(SelfTransferRequest(beneficiaryID: own.bank, amount: 100), endpoint)
        case "POST /transactions/quote":
            return try Self.with(QuoteRequest(recipientUsername: self.partner.username, amount: 100), endpoint)
        case "POST /money-drops":
            let tomorrow = Timestamp.text(Date().addingTimeInterval(86_400))
            return try Self.with(MoneyDropRequest(amountPerClaim: 100, slots: 2, expiresAt: tomorrow), endpoint)
        case "POST /money-drops/{id}/claim":
            // Nobody may claim of their own; the stranger claims of the owner's.
            let drop = [.merchant, .frozen, .closed].contains(asker) ? self.partnersDrop : own.drop
            let path = endpoint.path(with: ["id": drop.lowercased])
            return MatrixCall(path: path, body: try RunningSuite.json(ClaimRequest()))
        case "POST /payment-requests":
            return try Self.with(PaymentRequestRequest(amount: 100, payerUsername: self.partner.username), endpoint)
        case "POST /payment-requests/{id}/pay":
            let path = endpoint.path(with: ["id": own.toPay.lowercased])
            return MatrixCall(path: path, body: try RunningSuite.json(PayRequestRequest()))
        case "POST /subscriptions": return try Self.with(SubscriptionRequest(plan: "plus"), endpoint)
        case "DELETE /subscriptions": return MatrixCall(path: endpoint.path)
        case "PUT /limits": return try Self.with(OwnLimits(perTransfer: 5_000_000), endpoint)
        default: return nil
        }
    }

    // MARK: The rest

    /// About a sign-up that waits for documents; the stranger, who is verified, has none.
    private func documentCall(_ endpoint: Endpoint, _ asker: Asker) throws -> MatrixCall? {
        let application = try self.application(asker)
        let one = endpoint.path(with: ["id": application.document.lowercased])
        var call: MatrixCall
        switch endpoint.name {
        case "GET /users/me/documents": call = MatrixCall(path: endpoint.path)
        case "GET /users/me/documents/{id}": call = MatrixCall(path: one)
        case "PUT /users/me/documents/{id}":
            call = MatrixCall(path: one, body: Application.scan, contentType: "application/pdf")
        default: return nil
        }
        if asker != .stranger { call.subject = application.subject }
        return call
    }

    private func otherCall(_ endpoint: Endpoint, _ own: Belongings) throws -> MatrixCall? {
        switch endpoint.name {
        case "PUT /analytics/transactions/{id}/category":
            let path = endpoint.path(with: ["id": own.transfer.lowercased])
            return MatrixCall(path: path, body: try RunningSuite.json(CategoryRequest(category: "food")))
        case "POST /transactions/{id}/disputes":
            let path = endpoint.path(with: ["id": own.transfer.lowercased])
            let words = DisputeRequest(reason: "wrong_amount", text: "It was less")
            return MatrixCall(path: path, body: try RunningSuite.json(words))
        case "PUT /payment-requests/{id}/image":
            let path = endpoint.path(with: ["id": own.asked.lowercased])
            return MatrixCall(path: path, body: Belongings.picture, contentType: "image/png")
        case "POST /beneficiaries", "POST /beneficiaries/verify":
            let number = "00\(own.person.username.suffix(7))8"
            return try Self.with(BeneficiaryRequest(accountNumber: number, bankCode: "000013"), endpoint)
        // A user's token is no signature.
        case "POST /webhooks/anchor", "POST /webhooks/clerk":
            return MatrixCall(path: endpoint.path, body: Array(#"{"data":{"id":"evt-matrix","type":"x"}}"#.utf8))
        default: return nil
        }
    }
}
