import Contracts
import Foundation
import Primitives
import Sealing
import TestSupport

/// Everything that a person of the matrix owns, made while they still could do everything.
struct Belongings: Sendable {
    let person: Person
    /// Their only bank account, and a name enquiry.
    let bank: UUID
    let enquiry: UUID
    /// A second device.
    let device: UUID
    let pushToken: UUID
    let notification: UUID
    /// The path of their image, and of the one that their request shows.
    let image: String
    let requestImage: String
    /// A payment that they got and that has ended.
    let transfer: UUID
    /// A drop of theirs that is open.
    let drop: UUID
    /// Requests for money of theirs; the first shows an image.
    let asked: UUID
    let toCancel: UUID
    /// Requests that ask them.
    let toPay: UUID
    let toDecline: UUID

    /// What shows that an answer is about them.
    var ids: [UUID] {
        [
            self.person.id, self.bank, self.enquiry, self.device, self.pushToken, self.notification, self.transfer,
            self.drop, self.asked, self.toCancel, self.toPay, self.toDecline,
        ]
    }

    /// The smallest picture.
    static let picture = Array(
        Data(
            base64Encoded: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5"
                + "ErkJggg=="
        ) ?? Data()
    )
}

extension RunningSuite {
    private struct Made: Decodable {
        let id: UUID
    }

    private struct Shown: Decodable {
        let url: String

        private enum CodingKeys: String, CodingKey {
            case url = "profile_image_url"
        }
    }

    private struct Illustrated: Decodable {
        let url: String

        private enum CodingKeys: String, CodingKey {
            case url = "image_url"
        }
    }

    /// Gives a person with money everything that operations ask for; `partner` pays them, asks them and is asked.
    func belongings(of person: Person, with partner: Person) async throws -> Belongings {
        let transfer = try await self.pay(from: partner, to: person, 1000)
        try await self.await(transfer, "completed", within: .seconds(40))
        try await self.addBankAccount(of: person)
        let account = try Self.json(BeneficiaryRequest(accountNumber: "0012345678", bankCode: "000013"))
        let names = PaymentRequestRequest(amount: 100, payerUsername: partner.username)
        let asks = PaymentRequestRequest(amount: 100, payerUsername: person.username)
        let banks = try await self.call("GET", .customer, "/beneficiaries", as: person.subject)
        let tomorrow = Timestamp.text(Date().addingTimeInterval(86_400))
        let drop = MoneyDropRequest(amountPerClaim: 100, slots: 2, expiresAt: tomorrow)
        let asked = try await self.ask(as: person, names).id
        try await self.collectExport(of: person)
        let token = PushTokenRequest(token: person.id.lowercased.replacingOccurrences(of: "-", with: ""))
        return Belongings(
            person: person,
            bank: try banks.decode(BeneficiaryPage.self).data[0].id,
            enquiry: try await self.made("POST", .customer, "/beneficiaries/verify", by: person, account),
            device: try await self.made("POST", .auth, "/devices", by: person, try Self.phone()),
            pushToken: try await self.made("POST", .notification, "/push-tokens", by: person, Self.json(token)),
            notification: try await self.firstNotification(of: person),
            image: try await self.showImage(.customer, "/users/me/image", of: person).decode(Shown.self).url,
            requestImage: try await self.showImage(
                .transaction,
                "/payment-requests/\(asked.lowercased)/image",
                of: person
            ).decode(Illustrated.self).url,
            transfer: transfer,
            drop: try await self.drop(by: person, drop).moneyDropID,
            asked: asked,
            toCancel: try await self.ask(as: person, names).id,
            toPay: try await self.ask(as: partner, asks).id,
            toDecline: try await self.ask(as: partner, asks).id
        )
    }

    /// Asks for all that is held about a person, and waits until it is there.
    @discardableResult
    func collectExport(of person: Person) async throws -> ExportResource {
        let asked = try await self.call("POST", .customer, "/users/me/export", as: person.subject)
        guard asked.status == 202 else { throw TestFailure("asked for an export: \(asked.status) \(asked.text)") }
        var export = try asked.decode(ExportResource.self)
        try await eventually("the export to be ready", within: .seconds(60), every: .milliseconds(200)) {
            let found = try await self.call("GET", .customer, "/users/me/export", as: person.subject)
            export = try found.decode(ExportResource.self)
            return export.state == "ready"
        }
        return export
    }

    private struct BeneficiaryPage: Decodable {
        let data: [Made]
    }

    /// A phone that nobody has registered.
    static func phone() throws -> [UInt8] {
        let key = Base64URL.encode(DevicePrivateKey().publicKey.x963)
        return try Self.json(DeviceRequest(name: "Spare phone", publicKey: key, pin: Self.pin))
    }

    private func made(
        _ method: String,
        _ service: ServiceName,
        _ path: String,
        by person: Person,
        _ body: [UInt8]
    ) async throws -> UUID {
        let answer = try await self.call(method, service, path, as: person.subject, body: body)
        guard (200..<300).contains(answer.status) else { throw TestFailure("\(path): \(answer.text)") }
        return try answer.decode(Made.self).id
    }

    private func firstNotification(of person: Person) async throws -> UUID {
        try await eventually("a message", within: .seconds(30), every: .milliseconds(100)) {
            let answer = try await self.call("GET", .notification, "/notifications", as: person.subject)
            return try answer.decode(NotificationPage.self).data.first?.id
        }
    }

    private func showImage(_ service: ServiceName, _ path: String, of person: Person) async throws -> Reply {
        try await self.call(
            "PUT",
            service,
            path,
            as: person.subject,
            headers: ["Content-Type": "image/png"],
            body: Belongings.picture
        )
    }
}
