import Foundation
import HTTPTypes
import Hummingbird
import Primitives

/// `POST /3/device/{token}` on the port of its own.
///
/// Tokens that begin with `dead` are unregistered since now (410), `dead0` since 1970, and those that begin with `bad0`
/// are wrong (400): an invention of this stand-in.
struct APNsRoutes: Sendable {
    let recorder: PushRecorder
    let provider: Provider
    let time: any TimeSource

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
        let proof = request.headers[.authorization].flatMap { ProviderProof(header: $0) }
        push["authorized"] = .bool(request.headers[.authorization]?.lowercased().hasPrefix("bearer ") ?? false)
        push["kid"] = proof.map { .string($0.keyID) }
        push["iss"] = proof.map { .string($0.teamID) }
        let failure = self.failure(token, proof)
        push["status"] = .integer(Int64(failure?.status ?? 200))
        push["reason"] = failure?.reason.map { .string($0) }
        self.recorder.record(push)
        var response = failure?.response ?? Response(status: .ok)
        response.headers[.apnsID] = id
        return response
    }

    private func failure(_ token: String, _ proof: ProviderProof?) -> PushFailure? {
        if let planned = self.recorder.nextFailure() { return planned }
        if let proof, abs(self.time.now.timeIntervalSince(proof.issuedAt)) > ProviderProof.lifetime {
            return PushFailure(status: 403, reason: "ExpiredProviderToken")
        }
        let now = Int64(self.time.now.timeIntervalSince1970 * 1000)
        if token.hasPrefix("dead0") { return PushFailure(status: 410, reason: "Unregistered", timestamp: 0) }
        if token.hasPrefix("dead") { return PushFailure(status: 410, reason: "Unregistered", timestamp: now) }
        if token.hasPrefix("bad0") { return PushFailure(status: 400, reason: "BadDeviceToken") }
        let status = Int(self.provider.store.read { $0.switches.apnsStatus })
        return status == 200 ? nil : PushFailure(status: status, reason: "InternalServerError")
    }
}

/// A push that Apple does not take.
struct PushFailure: Sendable {
    let status: Int
    var reason: String?
    /// For 410, milliseconds since 1970.
    var timestamp: Int64?

    var response: Response {
        guard let reason else { return Response(status: .init(code: self.status)) }
        var members: [String: JSON] = ["reason": .string(reason)]
        members["timestamp"] = self.timestamp.map { .integer($0) }
        return .json(.object(members), status: .init(code: self.status))
    }
}

/// What a provider token says; its signature is not checked here.
struct ProviderProof: Sendable {
    let keyID: String
    let teamID: String
    let issuedAt: Date

    /// A token is good for so long, in seconds.
    static let lifetime: TimeInterval = 3600

    init?(header: String) {
        guard header.lowercased().hasPrefix("bearer ") else { return nil }
        let parts = header.dropFirst(7).split(separator: ".").map { Base64URL.decode($0) }
        guard parts.count == 3, let head = parts[0].flatMap({ JSON(parsing: $0) }),
            let claims = parts[1].flatMap({ JSON(parsing: $0) }), let keyID = head["kid"]?.text,
            let teamID = claims["iss"]?.text, let issued = claims["iat"]?.number
        else { return nil }
        self.keyID = keyID
        self.teamID = teamID
        self.issuedAt = Date(timeIntervalSince1970: TimeInterval(issued))
    }
}
