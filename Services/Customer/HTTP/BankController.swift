import Contracts
import Foundation
import HTTPTypes
import Hummingbird
import Messaging
import Primitives
import Sealing
import ServiceKit

/// GET /banks, and whose account a number is: POST /beneficiaries/verify, GET /beneficiaries/verify/{id}.
struct BankController: Sendable {
    let once: ChangeOnce
    let keys: any DataKeys
    let banks: BankListStore
    let enquiries: EnquiryStore
    let enquireName: EnquireName
    let awaitAnswer = AwaitAnswer()

    /// How long a client may show the list without asking.
    private static let maximumAge = "private, max-age=300"

    /// Adds the routes.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.get("/banks") { try await self.list($0, $1) }
        group.limited(.lookups).post("/beneficiaries/verify") { try await self.verify($0, $1) }
        group.get("/beneficiaries/verify/:id") { try await self.enquiry($0, $1) }
    }

    /// What the provider said last, however long ago; only before the first answer there is something to wait for.
    private func list(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        _ = try context.requireIdentity()
        let found = try await self.awaitAnswer(
            { try await self.banks.find(on: self.once.database) },
            while: { $0 == nil }
        )
        guard let found else { throw CustomerError.banksUnavailable }
        let headers: HTTPFields = [.eTag: found.etag, .cacheControl: Self.maximumAge]
        guard !EntityTag(text: found.etag).isKnown(to: request.headers) else {
            return APIResponse(.notModified, headers: headers)
        }
        return APIResponse(.ok, body: Array(found.body.utf8), headers: headers)
    }

    private func verify(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let body = try await request.decodeBody(as: BeneficiaryRequest.self, context: context)
        let account = try BankAccount(checking: body)
        guard let key = try await self.key(of: user) else { throw CustomerError.erased }
        let change = Change(
            { transaction in
                let enquiry = try await self.enquireName(account, user: user, key: key, in: transaction)
                // Kept without the number: whoever repeats the request is answered from the enquiry.
                return try APIResponse(.accepted, json: EnquiryResource(enquiry, key: nil))
            },
            finishing: { try await self.answer($0, of: user, key: key) }
        )
        return try await self.once(request, context, change)
    }

    /// What was asked, now or by an earlier request with the same key, as it stands once the bank has answered.
    private func answer(_ asked: APIResponse, of user: UserID, key: DataKey) async throws -> APIResponse {
        guard asked.status == .accepted,
            let pending = try? JSONDecoder().decode(EnquiryResource.self, from: Data(asked.body))
        else { return asked }
        let answered = try await self.awaitAnswer(
            { try await self.enquiries.find(pending.id, of: user, on: self.once.database) },
            while: { $0?.status == .pending }
        )
        guard let answered else { throw CustomerError.enquiryNotFound }
        return try Self.response(answered, key: key, headers: asked.headers)
    }

    private func enquiry(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let id = try context.uuid("id")
        guard let found = try await self.enquiries.find(id, of: user, on: self.once.database) else {
            throw CustomerError.enquiryNotFound
        }
        return try Self.response(found, key: try await self.key(of: user), headers: [:])
    }

    private static func response(
        _ enquiry: NameEnquiry,
        key: DataKey?,
        headers: HTTPFields
    ) throws -> APIResponse {
        switch enquiry.status {
        case .pending:
            var headers = headers
            headers[.location] = "/beneficiaries/verify/\(enquiry.id.lowercased)"
            return try APIResponse(.accepted, json: EnquiryResource(enquiry, key: key), headers: headers)
        case .found: return try APIResponse(.ok, json: EnquiryResource(enquiry, key: key), headers: headers)
        case .rejected: throw CustomerError.accountNotFound(enquiry.rejectReason ?? .refusedByProvider)
        }
    }

    /// The user's key; nil when it was destroyed.
    private func key(of user: UserID) async throws -> DataKey? {
        do {
            return try await self.keys.key(for: user)
        } catch DataKeyError.unknownUser {
            throw CustomerError.notOnboarded
        }
    }
}

extension EnquiryResource {
    /// An enquiry as its user sees it; without the key what is sealed stays hidden.
    init(_ enquiry: NameEnquiry, key: DataKey?) {
        let user = enquiry.user
        let number = try? key?.text(in: enquiry.accountNumber, field: Beneficiary.numberField, of: user)
        self.init(
            id: enquiry.id,
            accountNumber: number.map(BankAccount.masked) ?? SealedField.erasedText,
            accountName: enquiry.accountName.map { sealed in
                (try? key?.text(in: sealed, field: Beneficiary.nameField, of: user)) ?? SealedField.erasedText
            },
            bankCode: enquiry.bankCode,
            bankName: enquiry.bankName,
            status: enquiry.status.rawValue
        )
    }
}
