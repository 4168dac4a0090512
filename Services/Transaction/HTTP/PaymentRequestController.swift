import Contracts
import Foundation
import Hummingbird
import Messaging
import Primitives
import ServiceKit

/// Payment requests: made, looked at, paid, declined, cancelled.
struct PaymentRequestController: Sendable {
    let orders: OrderDesk
    let store: PaymentRequestStore
    let view: PaymentRequestView
    let once: ChangeOnce
    let linkBase: String

    /// A request without an expiry lives so long.
    private static let lifetime: TimeInterval = 30 * 86_400

    /// Adds the routes.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.post("/payment-requests") { try await self.post($0, $1) }
        group.get("/payment-requests") { try await self.list($0, $1) }
        group.polled("/payment-requests/:id") { try await self.get($0, $1) }
        group.delete("/payment-requests/:id") { try await self.end($0, $1, from: .outgoing) }
        group.limited(.money).post("/payment-requests/:id/pay") { try await self.pay($0, $1) }
        group.post("/payment-requests/:id/decline") { try await self.end($0, $1, from: .incoming) }
    }

    private func post(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let owner = try context.requireIdentity().userID
        let body = try await request.decodeBody(as: PaymentRequestRequest.self, context: context)
        let draft = try PaymentRequestDraft(
            amount: body.amount,
            payer: body.payerUsername,
            description: body.description,
            reference: body.reference,
            expiresAt: body.expiresAt,
            isMultiple: body.multiple ?? false
        )
        let change = Change(
            preparing: { _ in try await self.view.sealed(draft.description, of: owner) },
            then: { try await self.create(draft, sealedDescription: $1, owner: owner, in: $0) },
            finishing: { try await self.view.opened($0, of: owner) }
        )
        return try await self.once(request, context, change)
    }

    private func create(
        _ draft: PaymentRequestDraft,
        sealedDescription: String?,
        owner: UserID,
        in transaction: EventTransaction
    ) async throws -> APIResponse {
        // Not a UUIDv7: its time and counter would help strangers to guess.
        let id = UUID()
        let new = PaymentRequestStore.New(
            id: id,
            owner: owner,
            draft: draft,
            sealedDescription: sealedDescription,
            link: PublicLink.request(id, base: self.linkBase),
            expiresAt: draft.expiresAt ?? transaction.now.addingTimeInterval(Self.lifetime)
        )
        try await self.store.create(new, in: transaction)
        let resource = self.view.resource(of: new, at: transaction.now)
        return try APIResponse(.created, json: resource, headers: [.location: "/payment-requests/\(id.lowercased)"])
    }

    private func pay(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let payer = try context.requireIdentity().userID
        let id = try context.uuid("id")
        let body = try await request.decodeBody(as: PayRequestRequest.self, context: context)
        try QuoteID.checkForm(body.quoteID)
        let wish = try PaymentRequestDraft(
            amount: body.amount,
            payer: nil,
            description: body.description,
            expiresAt: nil
        )
        let wanted = OrderDesk.Wanted(
            looking: {
                guard let asked = try await self.store.find(id), asked.isVisible(to: payer),
                    let owner = try await self.view.username(of: asked.owner)
                else { throw APIError.notFound }
                guard let amount = wish.amount ?? asked.amount else {
                    throw FieldProblem(pointer: "/amount", detail: "The request leaves the amount open: say how much.")
                }
                return try PaymentDraft(recipient: owner, amount: amount, description: wish.description)
            },
            making: { .payment($0, request: id) }
        )
        return try await self.orders.take(request, context, quote: body.quoteID, wanted)
    }

    private func end(
        _ request: Request,
        _ context: AppRequestContext,
        from side: PaymentRequestStore.Side
    ) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let id = try context.uuid("id")
        return try await self.once(request, context) { transaction in
            try await self.store.end(id, as: user, from: side, in: transaction)
            // A cancelled request is gone for all, and so is its image.
            if side == .outgoing, let image = try await self.store.image(of: id, in: transaction) {
                try await transaction.enqueue(
                    TransactionJob.discardImage,
                    key: DiscardRequestImage.replacedKey(image),
                    subject: id.lowercased
                )
            }
            return .noContent
        }
    }

    // MARK: Reads

    private func get(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        guard let found = try await self.store.find(try context.uuid("id")), found.isVisible(to: user) else {
            throw APIError.notFound
        }
        return try APIResponse(json: try await self.view.resources([found], for: user)[0])
    }

    private func list(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let paging = try Paging(request, context)
        let side: PaymentRequestStore.Side
        switch request.uri.queryParameters.get("direction") ?? "outgoing" {
        case "outgoing": side = .outgoing
        case "incoming": side = .incoming
        default: throw APIError.invalid(parameter: "direction", detail: "outgoing or incoming.")
        }
        let reference = request.uri.queryParameters.get("reference")
        if let reference, !PaymentRequestDraft.isReference(reference) {
            throw APIError.invalid(parameter: "reference", detail: PaymentRequestDraft.referenceRule)
        }
        let rows = try await self.store.page(
            of: user,
            side,
            reference: reference,
            before: try paging.position(),
            limit: paging.limit + 1
        )
        let page = Array(rows.prefix(paging.limit))
        let last = rows.count > paging.limit ? page.last : nil
        return try APIResponse(
            json: PaymentRequestPage(
                data: try await self.view.resources(page, for: user),
                nextCursor: last.map { paging.cursor(after: $0.position) }
            )
        )
    }
}
