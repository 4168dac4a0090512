import Foundation
import HTTPTypes
import Hummingbird

/// `POST /3/device/{token}` on the port of its own.
///
/// Tokens that begin with `dead` are unregistered (410) and those that begin with `bad0` are wrong (400): an invention
/// of this stand-in.
struct APNsRoutes: Sendable {
    let recorder: PushRecorder
    let provider: Provider

    func add(to router: Router<SandboxContext>) {
        let routes = self
        router.post("3/device/:token") { request, context in
            let body = try await request.bytes()
            return routes.answer(request, token: context.text("token"), body)
        }
    }

    private func answer(_ request: Request, token: String, _ body: [UInt8]) -> Response {
        let id = request.headers[.apnsID] ?? UUID().uuidString
        var push: [String: JSON] = [
            "token": .string(token), "apns-id": .string(id), "body": JSON(parsing: body) ?? .null,
        ]
        for name in ["apns-topic", "apns-push-type", "apns-priority", "apns-collapse-id", "apns-expiration"] {
            guard let field = HTTPField.Name(name), let value = request.headers[field] else { continue }
            push[name] = .string(value)
        }
        push["authorized"] = .bool(request.headers[.authorization]?.lowercased().hasPrefix("bearer ") ?? false)
        let (status, reason) = self.outcome(token)
        push["status"] = .integer(Int64(status))
        self.recorder.record(push)
        var response =
            reason.map { Response.json(["reason": .string($0)], status: .init(code: status)) }
            ?? Response(status: .init(code: status))
        response.headers[.apnsID] = id
        return response
    }

    private func outcome(_ token: String) -> (status: Int, reason: String?) {
        if token.hasPrefix("dead") { return (410, "Unregistered") }
        if token.hasPrefix("bad0") { return (400, "BadDeviceToken") }
        let status = Int(self.provider.store.read { $0.switches.apnsStatus })
        return (status, status == 200 ? nil : "InternalServerError")
    }
}
