import Contracts
import Foundation
import HTTPTypes
import Hummingbird
import Messaging
import Primitives
import ServiceKit

/// What two operators do with money in suspense, on the internal port.
///
/// The header `Transfa-Operator` names who acts.
struct SuspenseController: Sendable {
    let store: SuspenseStore
    let database: EventDatabase
    let ids: any IdentifierSource

    private static let maximumRows = 1000

    /// Adds the routes under `/internal`.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.get("/suspense") { _, _ in try APIResponse(json: try await self.store.waiting(limit: Self.maximumRows)) }
        group.post("/suspense/:id/releases") { try await self.propose($0, $1) }
        group.post("/suspense-releases/:id/approve") { try await self.decide($0, $1, approve: true) }
        group.post("/suspense-releases/:id/reject") { try await self.decide($0, $1, approve: false) }
    }

    private struct Proposal: Decodable {
        let disposition: SuspenseStore.Disposition
        let reason: String
        let beneficiaryID: UUID?

        private enum CodingKeys: String, CodingKey {
            case disposition
            case reason
            case beneficiaryID = "beneficiary_id"
        }
    }

    private struct Outcome: Encodable {
        let id: UUID
        let state: String
    }

    private func propose(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let money = try context.uuid("id")
        let proposal = try await request.decodeBody(as: Proposal.self, context: context)
        let order = try OperatorOrder(request, context, reason: proposal.reason)
        guard (proposal.disposition == .payOut) == (proposal.beneficiaryID != nil) else {
            throw APIError.invalid("/beneficiary_id", detail: "The bank account of a payout, and of nothing else.")
        }
        let release = self.ids.next()
        let word = try await self.database.transaction(cause: context.cause) { transaction in
            try await self.store.propose(
                release,
                of: money,
                proposal.disposition,
                to: proposal.beneficiaryID,
                by: order,
                in: transaction
            )
        }
        guard word == "proposed" else { throw APIError(releaseRefusal: word) }
        return try APIResponse(.created, json: Outcome(id: release, state: word))
    }

    private func decide(
        _ request: Request,
        _ context: AppRequestContext,
        approve: Bool
    ) async throws -> APIResponse {
        let release = try context.uuid("id")
        let name = try request.operatorName()
        let word = try await self.database.transaction(cause: context.cause) { transaction in
            try await self.store.decide(release, approve: approve, by: name, in: transaction)
        }
        guard ["approved", "rejected"].contains(word) else { throw APIError(releaseRefusal: word) }
        return try APIResponse(json: Outcome(id: release, state: word))
    }
}

extension APIError {
    /// Why a release was not proposed or decided.
    fileprivate init(releaseRefusal word: String) {
        switch word {
        case "unknown", "not_in_suspense": self = .notFound
        case "same_operator": self = .forbidden(word, detail: "Another operator has to decide.")
        case "already_proposed": self = .conflict(word, detail: "A release was proposed before.")
        case "decided": self = .conflict(word, detail: "It was decided before.")
        case "recipient_unavailable": self = .refused(word, detail: "The wallet takes no money now.")
        case "not_returnable": self = .refused(word, detail: "There is nobody to give it back to.")
        case "recipient_not_closed": self = .refused(word, detail: "Only a closed profile is paid out.")
        case "recipient_owes": self = .refused(word, detail: "What is owed is settled first.")
        case "beneficiary_unknown": self = .refused(word, detail: "It is no bank account of whom the money belongs to.")
        case "beneficiary_not_verified": self = .refused(word, detail: "Only a verified bank account is paid.")
        case "amount_below_minimum": self = .refused(word, detail: "Banks do not take so little.")
        default: self = .refused(word, detail: "It is more than the wallet may hold.")
        }
    }
}
