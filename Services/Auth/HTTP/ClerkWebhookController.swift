import CoreMetrics
import HTTPTypes
import Hummingbird
import Primitives
import Sealing
import ServiceKit

/// Messages of Clerk, delivered and signed by Svix.
struct ClerkWebhookController: Sendable {
    let secrets: [SvixSecret]
    let takeMessage: TakeClerkMessage
    let memory: MessageMemory
    let metrics: WebhookMetrics
    let clock: any TimeSource

    /// The most bytes of a body.
    static let bodyLimit = 256 * 1024
    private static let longestID = 255

    /// Adds the routes.
    func add(to router: Router<AppRequestContext>) {
        router.webhooks().post("/webhooks/clerk") { try await self.post($0, $1) }
    }

    private func post(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let body = try await request.rawBody(context: context, limit: Self.bodyLimit).bytes
        guard let headers = Self.headers(request),
            WebhookSignature.verifySvix(headers, body: body, secrets: self.secrets, now: self.clock.now) == .valid
        else {
            self.metrics.badSignature.increment(by: 1)
            throw AuthError.badSignature
        }
        context.senderIsKnown()
        guard StrictJSONText.isOne(body), let message = ClerkMessage(parsing: body) else {
            self.metrics.malformed.increment(by: 1)
            throw AuthError.malformedMessage
        }
        // Of what nothing follows from nothing is stored, and so nothing remembered.
        guard message != .other else {
            self.metrics.accepted.increment(by: 1)
            return APIResponse(.ok)
        }
        let isNew = try await self.memory.once(headers.id) {
            try await self.takeMessage(message, id: headers.id, cause: context.cause)
        }
        (isNew ? self.metrics.accepted : self.metrics.repeated).increment(by: 1)
        return APIResponse(.ok)
    }

    private static func headers(_ request: Request) -> SvixHeaders? {
        guard let id = Self.value("svix-id", of: request), id.utf8.count <= Self.longestID,
            let timestamp = Self.value("svix-timestamp", of: request),
            let signature = Self.value(Self.signatureHeader, of: request)
        else { return nil }
        return SvixHeaders(id: id, timestamp: timestamp, signature: signature)
    }

    /// Where the signature stands.
    static let signatureHeader = "svix-signature"

    private static func value(_ name: String, of request: Request) -> String? {
        HTTPField.Name(name).flatMap { request.headers[$0] }
    }
}
