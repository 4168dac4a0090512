import Foundation
import Hummingbird
import Primitives

/// The published keys, and tokens and messages for tests.
struct ClerkRoutes: Sendable {
    let keys: ClerkKeys
    let configuration: SandboxConfiguration
    let sender: WebhookSender
    let time: any TimeSource

    func add(to router: Router<SandboxContext>) {
        let routes = self
        router.get(".well-known/jwks.json") { _, _ in Response.json(try routes.keys.jwks()) }
        router.post("sandbox/clerk/tokens") { request, _ in
            let order = try TokenOrder(try await request.fields(), issuer: routes.configuration.clerkIssuer)
            let now = Int64(routes.time.now.timeIntervalSince1970)
            let token = try order.token(at: now, keys: routes.keys)
            return Response.json(["jwt": .string(token), "kid": .string(try routes.keys.current().id)])
        }
        router.post("sandbox/clerk/rotate") { request, _ in
            let forgets = try await request.fields().json["forget_old"]?.flag ?? false
            let key = try routes.keys.rotate(forgettingOld: forgets)
            return Response.json(["kid": .string(key.id)])
        }
        router.post("sandbox/clerk/retire") { _, _ in
            let key = try routes.keys.retire()
            return Response.json(["kid": .string(key.id)])
        }
        router.post("sandbox/clerk/webhooks") { request, _ in
            let fields = try await request.fields()
            let secret = try routes.configuration.clerkWebhookSecret.orNotFound("CLERK_WEBHOOK_SECRET")
            let url = try (fields.json["url"]?.text ?? routes.configuration.clerkWebhookURL).orNotFound(
                "Webhook target"
            )
            let now = Int64(routes.time.now.timeIntervalSince1970)
            let order = try ClerkMessageOrder(fields, secret: secret, at: now)
            let status = try await order.send(to: url, at: now, by: routes.sender)
            let shown = status.map { JSON.integer(Int64($0)) } ?? .null
            return Response.json(["id": .string(order.id), "status": shown])
        }
    }
}
