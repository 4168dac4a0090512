import Contracts
import Foundation
import Hummingbird
import Primitives
import Sealing
import ServiceKit

/// Bank accounts of the user.
struct BeneficiaryController: Sendable {
    let once: ChangeOnce
    let keys: any DataKeys
    let beneficiaries: BeneficiaryStore
    let addBeneficiary: AddBeneficiary
    let awaitVerification: AwaitVerification
    let chooseDefault: ChooseDefault
    let removeBeneficiary: RemoveBeneficiary

    /// Adds the routes.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.limited(.lookups).post("/beneficiaries") { try await self.post($0, $1) }
        group.get("/beneficiaries") { try await self.list($0, $1) }
        group.get("/beneficiaries/:id") { try await self.get($0, $1) }
        group.delete("/beneficiaries/:id") { try await self.delete($0, $1) }
        group.put("/beneficiaries/:id/default") { try await self.putDefault($0, $1) }
    }

    private func post(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let body = try await request.decodeBody(as: BeneficiaryRequest.self, context: context)
        let account = try BankAccount(checking: body)
        guard let key = try await self.key(of: user) else { throw CustomerError.erased }
        let change = Change(
            { transaction in
                let added = try await self.addBeneficiary(account, user: user, key: key, in: transaction)
                return try APIResponse(.accepted, json: BeneficiaryResource(sealed: added))
            },
            finishing: { try await self.answer($0, user: user, key: key) }
        )
        return try await self.once(request, context, change)
    }

    /// What was accepted, now or by an earlier request with the same key, as it stands once the bank has answered.
    private func answer(_ accepted: APIResponse, user: UserID, key: DataKey) async throws -> APIResponse {
        guard accepted.status == .accepted,
            let pending = try? JSONDecoder().decode(BeneficiaryResource.self, from: Data(accepted.body))
        else { return accepted }
        var headers = accepted.headers
        headers[.location] = "/beneficiaries/\(pending.id.lowercased)"
        guard let found = try await self.awaitVerification(pending.id, of: user) else {
            return try APIResponse(accepted.status, json: pending.opened(with: key, of: user), headers: headers)
        }
        switch found.status {
        case .pending, .review:
            return try APIResponse(.accepted, json: BeneficiaryResource(found, key: key), headers: headers)
        case .verified: return try APIResponse(.created, json: BeneficiaryResource(found, key: key), headers: headers)
        case .rejected: throw CustomerError.accountNotFound(found.rejectReason ?? .refusedByProvider)
        }
    }

    private func list(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let found = try await self.beneficiaries.list(user, as: user, on: self.once.database)
        guard !found.isEmpty else { return try APIResponse(json: BeneficiaryList(data: [])) }
        let key = try await self.key(of: user)
        return try APIResponse(json: BeneficiaryList(data: found.map { BeneficiaryResource($0, key: key) }))
    }

    private func get(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let id = try context.uuid("id")
        guard let found = try await self.beneficiaries.find(id, of: user, on: self.once.database) else {
            throw CustomerError.beneficiaryNotFound
        }
        return try APIResponse(json: BeneficiaryResource(found, key: try await self.key(of: user)))
    }

    private func delete(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let id = try context.uuid("id")
        return try await self.once(request, context) { transaction in
            try await self.removeBeneficiary(id, user: user, in: transaction)
            return .noContent
        }
    }

    private func putDefault(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let id = try context.uuid("id")
        let key = try await self.key(of: user)
        let change = Change(
            { transaction in
                let chosen = try await self.chooseDefault(id, user: user, in: transaction)
                return try APIResponse(json: BeneficiaryResource(sealed: chosen))
            },
            finishing: { answer in
                guard answer.status == .ok else { return answer }
                let sealed = try JSONDecoder().decode(BeneficiaryResource.self, from: Data(answer.body))
                return try APIResponse(json: sealed.opened(with: key, of: user), headers: answer.headers)
            }
        )
        return try await self.once(request, context, change)
    }

    /// The user's key; nil when it was destroyed.
    ///
    /// Fetched before a transaction begins: no row waits for a network.
    private func key(of user: UserID) async throws -> DataKey? {
        do {
            return try await self.keys.key(for: user)
        } catch DataKeyError.unknownUser {
            throw CustomerError.notOnboarded
        }
    }
}

/// GET /beneficiaries.
struct BeneficiaryList: Encodable {
    let data: [BeneficiaryResource]
}

extension BeneficiaryResource {
    /// A beneficiary as its user sees it; without the key what is sealed stays hidden.
    init(_ beneficiary: Beneficiary, key: DataKey?) {
        self = BeneficiaryResource(sealed: beneficiary).opened(with: key, of: beneficiary.user)
    }

    /// The same with what was sealed in it opened.
    func opened(with key: DataKey?, of user: UserID) -> BeneficiaryResource {
        var opened = self
        let number = try? key?.text(in: Sealed(self.accountNumber), field: Beneficiary.numberField, of: user)
        opened.accountNumber = number.map(BankAccount.masked) ?? SealedField.erasedText
        opened.accountName = self.accountName.map { sealed in
            (try? key?.text(in: Sealed(sealed), field: Beneficiary.nameField, of: user)) ?? SealedField.erasedText
        }
        return opened
    }

    /// A beneficiary as it is kept with an answer: number and name sealed.
    init(sealed beneficiary: Beneficiary) {
        self.init(
            id: beneficiary.id,
            accountNumber: beneficiary.accountNumber.text,
            accountName: beneficiary.accountName?.text,
            bankCode: beneficiary.bankCode,
            bankName: beneficiary.bankName,
            status: beneficiary.status.rawValue,
            isDefault: beneficiary.isDefault,
            createdAt: Timestamp.text(beneficiary.createdAt)
        )
    }
}
