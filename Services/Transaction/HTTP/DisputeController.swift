import Contracts
import Foundation
import Hummingbird
import Messaging
import Primitives
import ServiceKit

/// A person reports a problem with a transfer and sees what becomes of it.
struct DisputeController: Sendable {
    let store: DisputeStore
    let history: HistoryStore
    let view: DisputeView
    let once: ChangeOnce

    /// Adds the routes.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.post("/transactions/:id/disputes") { try await self.post($0, $1) }
        group.get("/transactions/:id/disputes") { try await self.list($0, $1) }
    }

    private func post(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let transfer = try context.uuid("id")
        let body = try await request.decodeBody(as: DisputeRequest.self, context: context)
        let draft = try DisputeDraft(reason: body.reason, text: body.text)
        // A bad key is refused whatever it came for.
        _ = try request.idempotencyKey()
        let change = Change(
            preparing: { _ in
                guard try await self.history.transfer(transfer, for: user) != nil,
                    let sealed = try await self.view.sealed(draft.text, field: SealedText.dispute, of: user)
                else { throw APIError.notFound }
                return sealed
            },
            then: { try await self.open(draft, sealedText: $1, about: transfer, by: user, in: $0) },
            finishing: { try await self.view.opened($0, of: user) }
        )
        return try await self.once(request, context, change)
    }

    private func open(
        _ draft: DisputeDraft,
        sealedText: String,
        about transfer: UUID,
        by user: UserID,
        in transaction: EventTransaction
    ) async throws -> APIResponse {
        let dispute = try await self.store.open(
            transaction.makeID(),
            of: transfer,
            by: user,
            draft.reason,
            sealedText: sealedText,
            in: transaction
        )
        let event = DisputeOpened(
            disputeID: dispute.id,
            transactionID: transfer,
            userID: user.uuid,
            reason: dispute.reason,
            dueAt: Timestamp.text(dispute.dueAt),
            timestamp: Timestamp.text(dispute.openedAt)
        )
        try await transaction.publish(event, about: dispute.id.lowercased)
        // What is kept of the answer holds the words sealed.
        return try APIResponse(
            .created,
            json: self.view.resource(dispute, text: sealedText),
            headers: [.location: "/transactions/\(transfer.lowercased)/disputes"]
        )
    }

    private func list(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let transfer = try context.uuid("id")
        guard try await self.history.transfer(transfer, for: user) != nil else { throw APIError.notFound }
        var resources: [DisputeResource] = []
        for dispute in try await self.store.disputes(of: transfer, by: user) {
            resources.append(try await self.view.resource(dispute))
        }
        return try APIResponse(json: DisputeList(data: resources))
    }
}
