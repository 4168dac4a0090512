import Foundation
import Messaging
import Primitives
import Sealing
import ServiceKit

/// A person orders a transfer: seals what they wrote, hands the order to the batcher, wakes the workers.
struct PlaceOrder: Sendable {
    let batcher: OrderBatcher
    let store: OrderStore
    let database: EventDatabase
    let keys: any DataKeys
    let ids: any IdentifierSource

    /// The request an order came with.
    struct Request: Sendable {
        let sender: UserID
        let order: Order
        let scope: IdempotencyScope
        let approval: Approval
        let cause: Cause
        /// What the quote said that the order names.
        let quote: QuoteTerms?
    }

    func callAsFunction(_ request: Request) async throws -> OrderAnswer {
        let device: UUID? =
            switch request.approval.method {
            case .device(let id): id
            case .pin: nil
            }
        let order = PendingOrder(
            transaction: self.ids.next(),
            sender: request.sender,
            order: request.order,
            sealedText: try await self.sealed(request.order.text, of: request.sender),
            route: request.scope.route,
            key: request.scope.key.text,
            requestHash: request.scope.fingerprint.bytes,
            nonce: request.approval.nonce,
            device: device,
            createdEvent: self.ids.next(),
            reroutedEvent: self.ids.next(),
            slotEvent: self.ids.next(),
            correlation: request.cause.correlationID,
            traceparent: request.cause.traceparent,
            quote: request.quote
        )
        let answer = try await self.store.answer(to: order, try await self.batcher.place(order))
        if !answer.isRepeated, case .accepted = answer.outcome { self.database.wake() }
        return answer
    }

    /// What was answered before under the same key; nil when nothing was.
    ///
    /// It is the answer to whoever has no good approval. With one, ask whether it stands under that.
    ///
    /// - Throws: 422 when the key was used for another request.
    func earlier(_ scope: IdempotencyScope) async throws -> OrderStore.Stored? {
        let stored = try await self.store.stored(scope.user, route: scope.route, key: scope.key.text)
        guard let stored else { return nil }
        guard scope.isOfSameRequest(stored.hash) else { throw OrderRefusal.keyReused }
        return stored
    }

    private func sealed(_ text: Order.Text?, of user: UserID) async throws -> String? {
        guard let text else { return nil }
        return try await self.keys.seal(text.content, field: text.field, of: user)
    }
}
