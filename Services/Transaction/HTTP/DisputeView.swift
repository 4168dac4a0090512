import Contracts
import Foundation
import Hummingbird
import Primitives
import ServiceKit

/// Disputes as people see them: their words opened.
struct DisputeView: Sendable {
    let keys: any DataKeys

    /// Seals the words of either side with the person's key; nil when the person was erased.
    func sealed(_ text: String, field: String, of user: UserID) async throws -> String? {
        try await self.keys.seal(text, field: field, of: user)
    }

    func resource(_ dispute: Dispute) async throws -> DisputeResource {
        self.resource(dispute, text: try await self.text(of: dispute), answer: try await self.answer(to: dispute))
    }

    /// The answer to whoever reported a problem, out of what is kept of it.
    func opened(_ answer: APIResponse, of user: UserID) async throws -> APIResponse {
        guard answer.status == .created else { return answer }
        var resource = try JSONDecoder().decode(DisputeResource.self, from: Data(answer.body))
        guard let sealed = resource.text else { return answer }
        resource.text = try await self.keys.open(sealed, field: SealedText.dispute, of: user)
        return try APIResponse(answer.status, json: resource, headers: answer.headers)
    }

    /// With these words, opened or not.
    func resource(_ dispute: Dispute, text: String?, answer: String? = nil) -> DisputeResource {
        DisputeResource(
            id: dispute.id,
            transactionID: dispute.transaction,
            reason: dispute.reason,
            text: text,
            state: dispute.state,
            openedAt: Timestamp.text(dispute.openedAt),
            dueAt: Timestamp.text(dispute.dueAt),
            answer: answer,
            answeredAt: dispute.answeredAt.map(Timestamp.text),
            outcome: dispute.outcome,
            closedAt: dispute.closedAt.map(Timestamp.text)
        )
    }

    /// What the person wrote.
    func text(of dispute: Dispute) async throws -> String? {
        try await self.keys.open(dispute.description, field: SealedText.dispute, of: UserID(dispute.user))
    }

    /// What was answered.
    func answer(to dispute: Dispute) async throws -> String? {
        guard let answer = dispute.answer else { return nil }
        return try await self.keys.open(answer, field: SealedText.disputeAnswer, of: UserID(dispute.user))
    }
}
