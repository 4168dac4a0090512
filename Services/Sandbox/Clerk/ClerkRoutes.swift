import Foundation
import Hummingbird
import Primitives

/// The published keys, and tokens for tests.
struct ClerkRoutes: Sendable {
    let keys: ClerkKeys
    let issuer: String
    let time: any TimeSource

    func add(to router: Router<SandboxContext>) {
        let routes = self
        router.get(".well-known/jwks.json") { _, _ in Response.json(try routes.keys.jwks()) }
        router.post("sandbox/clerk/tokens") { request, _ in
            let order = try TokenOrder(try await request.fields(), issuer: routes.issuer)
            let now = Int64(routes.time.now.timeIntervalSince1970)
            let token = try order.token(at: now, keys: routes.keys)
            return Response.json(["jwt": .string(token), "kid": .string(try routes.keys.current().id)])
        }
        router.post("sandbox/clerk/rotate") { request, _ in
            let forgets = try await request.fields().json["forget_old"]?.flag ?? false
            let key = try routes.keys.rotate(forgettingOld: forgets)
            return Response.json(["kid": .string(key.id)])
        }
    }
}
