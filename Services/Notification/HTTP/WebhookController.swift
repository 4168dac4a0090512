import AnchorClient
import CoreMetrics
import HTTPTypes
import Hummingbird
import Sealing
import ServiceKit

/// Messages of the provider.
struct WebhookController: Sendable {
    let tokens: [String]
    let lane: WebhookLane
    let memory: MessageMemory
    let metrics: WebhookMetrics

    /// The most bytes of a body, packed or not.
    static let bodyLimit = 256 * 1024

    /// Adds the routes.
    func add(to router: Router<AppRequestContext>) {
        router.webhooks().post("/webhooks/anchor") { try await self.post($0, $1) }
    }

    private func post(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let raw = try await request.rawBody(context: context, limit: Self.bodyLimit).bytes
        guard let body = self.verified(raw, request) else {
            self.metrics.badSignature.increment(by: 1)
            throw NotificationError.badSignature
        }
        context.senderIsKnown()
        guard StrictJSONText.isOne(body), let event = try? WebhookEvent(parsing: body) else {
            self.metrics.malformed.increment(by: 1)
            throw NotificationError.malformedEvent
        }
        let isNew = try await self.memory.once(event.id) {
            try await self.lane.take(event, cause: context.cause)
        }
        (isNew ? self.metrics.accepted : self.metrics.repeated).increment(by: 1)
        return APIResponse(.ok)
    }

    private func verified(_ raw: [UInt8], _ request: Request) -> [UInt8]? {
        guard let name = HTTPField.Name(WebhookSignature.anchorHeader), let header = request.headers[name] else {
            return nil
        }
        return SignedBody.verified(raw, header: header, tokens: self.tokens, limit: Self.bodyLimit)
    }
}
