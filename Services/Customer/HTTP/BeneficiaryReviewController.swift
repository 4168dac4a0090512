import Contracts
import Foundation
import Hummingbird
import Messaging
import Primitives
import ServiceKit

/// Bank accounts whose holder may be the user or not, on the internal port: operators look and decide.
struct BeneficiaryReviewController: Sendable {
    let database: EventDatabase
    let users: CustomerUserStore
    let beneficiaries: BeneficiaryStore
    let keys: any DataKeys
    let decide: DecideBeneficiary

    /// Adds the routes under `/internal`.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.get("/beneficiaries/reviews") { try await self.list($0, $1) }
        group.get("/beneficiaries/:id/review") { try await self.get($0, $1) }
        group.post("/beneficiaries/:id/review") { try await self.post($0, $1) }
    }

    private struct Order: Decodable {
        let decision: String
        let reason: String
    }

    private func list(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let paging = try Paging(request, context)
        let found = try await self.beneficiaries.reviews(
            before: try paging.id(),
            limit: paging.limit + 1,
            on: self.database
        )
        let page = found.prefix(paging.limit)
        return try APIResponse(
            json: BeneficiaryReviews(
                data: page.map { BeneficiaryReview($0) },
                nextCursor: found.count > paging.limit ? page.last.map { paging.cursor(after: $0.id) } : nil
            )
        )
    }

    /// One with both names: whoever decides has to read them.
    private func get(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let id = try context.uuid("id")
        guard let found = try await self.beneficiaries.find(id, on: self.database), found.deletedAt == nil,
            let owner = try await self.users.find(found.user, as: nil, on: self.database)
        else { throw CustomerError.beneficiaryNotFound }
        guard found.status == .review, let name = found.accountName else { throw CustomerError.beneficiaryNotInReview }
        guard let key = try await self.keys.key(for: found.user) else { throw CustomerError.erased }
        let details = try await OpenDetails(keys: self.keys)(owner)
        var review = BeneficiaryReview(found)
        review.accountName = try key.text(in: name, field: Beneficiary.nameField, of: found.user)
        review.verifiedName = details.person?.fullName ?? details.business?.businessName
        review.directorName = details.business?.director?.fullName
        return try APIResponse(json: review)
    }

    private func post(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let id = try context.uuid("id")
        let body = try await request.decodeBody(as: Order.self, context: context)
        guard let decision = DecideBeneficiary.Decision(rawValue: body.decision) else {
            throw APIError.invalid("/decision", detail: "One of accept, reject.")
        }
        let order = try OperatorOrder(request, context, reason: body.reason)
        try await self.database.transaction(cause: context.cause) { transaction in
            try await self.decide(id, decision, by: order, in: transaction)
        }
        return .noContent
    }
}

/// GET /internal/beneficiaries/reviews.
struct BeneficiaryReviews: Encodable {
    let data: [BeneficiaryReview]
    let nextCursor: String?

    private enum CodingKeys: String, CodingKey {
        case data
        case nextCursor = "next_cursor"
    }
}

/// A bank account that people look at; names only where one is asked for.
struct BeneficiaryReview: Encodable {
    let id: String
    let userID: String
    let bankCode: String
    let bankName: String?
    let createdAt: String
    var accountName: String?
    var verifiedName: String?
    var directorName: String?

    init(_ beneficiary: Beneficiary) {
        self.id = beneficiary.id.lowercased
        self.userID = beneficiary.user.description
        self.bankCode = beneficiary.bankCode
        self.bankName = beneficiary.bankName
        self.createdAt = Timestamp.text(beneficiary.createdAt)
    }

    private enum CodingKeys: String, CodingKey {
        case id
        case userID = "user_id"
        case bankCode = "bank_code"
        case bankName = "bank_name"
        case createdAt = "created_at"
        case accountName = "account_name"
        case verifiedName = "verified_name"
        case directorName = "director_name"
    }
}
