import Cryptography
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOHTTP1
import Primitives
import Sealing
import Testing

@testable import ServiceKit

private let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

/// A user with one device, and `auth` with one key.
private struct World: Sendable {
    let user = UserID(clerkSubject: "user_1")
    let device = UUID()
    let deviceKey = DevicePrivateKey()
    let authKey = P256.PrivateKey()
    let clock = AdjustableClock()
    let lookups = Counter()
    /// What the verifier has heard.
    var pinSequence: Int64 = 7
    var endedSessions: Set<String> = ["sess_ended"]

    var bound: BoundRequest {
        BoundRequest(
            method: "POST",
            path: "/transactions/p2p",
            bodySHA256: RawBody(Array("{}".utf8)).sha256Hex,
            user: self.user
        )
    }

    func verifier() throws -> ApprovalVerifier {
        let point = Array(self.authKey.publicKey.x963Representation)
        let jwk = """
            {"kty":"EC","crv":"P-256","alg":"ES256","use":"sig","kid":"a1",\
            "x":"\(Base64URL.encode(point[1...32]))","y":"\(Base64URL.encode(point[33...64]))"}
            """
        let key = try StrictJSONParser.parse(Array(jwk.utf8))
        return ApprovalVerifier(pinKeys: KeySetCache(logger: quiet) { [key] }, clock: self.clock) { question in
            _ = self.lookups.next()
            let isOwn = question.device == self.device && question.user == self.user
            return ApprovalFacts(
                deviceKey: isOwn ? self.deviceKey.publicKey : nil,
                pinSequence: self.pinSequence,
                hasEndedSession: !question.sessions.isDisjoint(with: self.endedSessions)
            )
        }
    }

    func deviceHeader(
        nonce: UUID = UUID(),
        device: UUID? = nil,
        age: TimeInterval = 0,
        changing change: (BoundRequest) -> BoundRequest = { $0 }
    ) throws -> String {
        let bound = change(self.bound)
        let timestamp = Int64(self.clock.now.timeIntervalSince1970 - age)
        let text = ApprovalText(
            method: bound.method,
            path: bound.path,
            bodySHA256: bound.bodySHA256,
            nonce: nonce,
            timestamp: timestamp,
            user: bound.user.uuid
        )
        let approval = DeviceApproval(
            device: device ?? self.device,
            nonce: nonce,
            timestamp: timestamp,
            signature: try self.deviceKey.sign(text)
        )
        return ApprovalHeader.device(approval).value
    }

    func pinHeader(
        claims change: (inout [String: Any]) -> Void = { _ in },
        header: [String: String] = ["alg": "ES256", "typ": "JWT", "kid": "a1"],
        key: P256.PrivateKey? = nil
    ) throws -> String {
        let now = Int64(self.clock.now.timeIntervalSince1970)
        var claims: [String: Any] = [
            "iss": "transfa-auth", "sub": self.user.description, "jti": UUID().uuidString.lowercased(),
            "htm": self.bound.method, "htu": self.bound.path, "bsh": self.bound.bodySHA256, "iat": now, "sid": "sess_1",
            "seq": 7,
            "exp": now + 120,
        ]
        change(&claims)
        let parts = try [
            JSONSerialization.data(withJSONObject: header), JSONSerialization.data(withJSONObject: claims),
        ]
        let signed = parts.map { Base64URL.encode($0) }.joined(separator: ".")
        let signature = try (key ?? self.authKey).signature(for: Array(signed.utf8))
        return "pin \(signed).\(Base64URL.encode(signature.rawRepresentation))"
    }
}

@Suite("approvals of outbound money")
struct ApprovalVerifierTests {
    @Test("a device's signature over this request is an approval with its nonce")
    func device() async throws {
        let world = World()
        let nonce = UUID()
        let approval = try await world.verifier().verify(header: world.deviceHeader(nonce: nonce), bound: world.bound)
        #expect(approval == Approval(nonce: nonce, method: .device(world.device)))
    }

    @Test("a device's key is looked up once for a burst")
    func lookups() async throws {
        let world = World()
        let verifier = try world.verifier()
        for _ in 0..<5 {
            _ = try await verifier.verify(header: world.deviceHeader(), bound: world.bound)
        }
        #expect(world.lookups.value == 1)
    }

    @Test("a token ends with what was heard after it, and one that is newer than what was heard is good")
    func pinEnds() async throws {
        let world = World()
        let verifier = try world.verifier()
        for (sequence, isGood) in [(6, false), (7, true), (8, true)] {
            let header = try world.pinHeader { $0["seq"] = sequence }
            let approval = try? await verifier.verify(header: header, bound: world.bound)
            #expect((approval != nil) == isGood, "\(sequence)")
        }
        for claim in ["seq", "sid"] {
            let header = try world.pinHeader { $0[claim] = nil }
            await #expect(throws: APIError.approvalInvalid) {
                try await verifier.verify(header: header, bound: world.bound)
            }
        }
    }

    @Test("with a session end what was approved in it and what is sent in it, by PIN and by device")
    func sessionEnds() async throws {
        let world = World()
        let verifier = try world.verifier()
        var ended = world.bound
        ended.session = "sess_ended"
        let attempts = [
            (try world.pinHeader { $0["sid"] = "sess_ended" }, world.bound), (try world.pinHeader(), ended),
            (try world.deviceHeader(), ended),
        ]
        for (header, bound) in attempts {
            await #expect(throws: APIError.approvalInvalid) { try await verifier.verify(header: header, bound: bound) }
        }
        _ = try await verifier.verify(header: world.deviceHeader(), bound: world.bound)
    }

    @Test("a signature over anything else is refused")
    func deviceBindings() async throws {
        let world = World()
        let verifier = try world.verifier()
        let others: [(BoundRequest) -> BoundRequest] = [
            { BoundRequest(method: "PUT", path: $0.path, bodySHA256: $0.bodySHA256, user: $0.user) },
            { BoundRequest(method: $0.method, path: "/withdraw", bodySHA256: $0.bodySHA256, user: $0.user) },
            { BoundRequest(method: $0.method, path: $0.path, bodySHA256: RawBody([1]).sha256Hex, user: $0.user) },
            {
                let user = UserID(clerkSubject: "user_2")
                return BoundRequest(method: $0.method, path: $0.path, bodySHA256: $0.bodySHA256, user: user)
            },
        ]
        for other in others {
            let header = try world.deviceHeader(changing: other)
            await #expect(throws: APIError.approvalInvalid) {
                try await verifier.verify(header: header, bound: world.bound)
            }
        }
        let unknown = try world.deviceHeader(device: UUID())
        await #expect(throws: APIError.approvingDeviceUnknown) {
            try await verifier.verify(header: unknown, bound: world.bound)
        }
    }

    @Test("a device that is not known is told to wait within a minute of its registration, and refused later")
    func newDevice() async throws {
        let world = World()
        let verifier = try world.verifier()
        let device = UUIDv7Source(clock: world.clock).next()
        let early = try world.deviceHeader(device: device)
        await #expect(throws: APIError.approvingDeviceNotReady) {
            try await verifier.verify(header: early, bound: world.bound)
        }
        world.clock.advance(by: .seconds(61))
        let late = try world.deviceHeader(device: device)
        await #expect(throws: APIError.approvingDeviceUnknown) {
            try await verifier.verify(header: late, bound: world.bound)
        }
        let ahead = try world.deviceHeader(device: UUIDv7Source(clock: AdjustableClock(offset: .seconds(3600))).next())
        await #expect(throws: APIError.approvingDeviceUnknown) {
            try await verifier.verify(header: ahead, bound: world.bound)
        }
    }

    @Test(
        "a signature is good for two minutes either way",
        arguments: [(110.0, true), (-110, true), (130, false), (-130, false)]
    )
    func age(seconds: TimeInterval, isGood: Bool) async throws {
        let world = World()
        let header = try world.deviceHeader(age: seconds)
        let approval = try? await world.verifier().verify(header: header, bound: world.bound)
        #expect((approval != nil) == isGood)
    }

    @Test("a PIN token for this request is an approval with its nonce")
    func pin() async throws {
        let world = World()
        let nonce = UUID()
        let header = try world.pinHeader(claims: { $0["jti"] = nonce.uuidString.lowercased() })
        let approval = try await world.verifier().verify(header: header, bound: world.bound)
        #expect(approval == Approval(nonce: nonce, method: .pin))
    }

    @Test("a PIN token for anything else is refused")
    func pinBindings() async throws {
        let world = World()
        let verifier = try world.verifier()
        let now = Int64(world.clock.now.timeIntervalSince1970)
        let changes: [(inout [String: Any]) -> Void] = [
            { $0["iss"] = "somebody" }, { $0["sub"] = UUID().uuidString.lowercased() }, { $0["htm"] = "PUT" },
            { $0["htu"] = "/withdraw" }, { $0["bsh"] = RawBody([1]).sha256Hex }, { $0["exp"] = now - 6 },
            { $0["iat"] = now + 60 }, { $0["exp"] = now + 100_000 }, { $0["jti"] = "once" }, { $0["jti"] = nil },
        ]
        for change in changes {
            let header = try world.pinHeader(claims: change)
            await #expect(throws: APIError.approvalInvalid) {
                try await verifier.verify(header: header, bound: world.bound)
            }
        }
        let foreign = try world.pinHeader(key: P256.PrivateKey())
        await #expect(throws: APIError.approvalInvalid) {
            try await verifier.verify(header: foreign, bound: world.bound)
        }
        for algorithm in ["none", "HS256", "RS256"] {
            let header = try world.pinHeader(header: ["alg": algorithm, "kid": "a1"])
            await #expect(throws: APIError.approvalInvalid) {
                try await verifier.verify(header: header, bound: world.bound)
            }
        }
    }

    @Test("a header that is neither is refused", arguments: ["", "device", "pin", "pin a.b", "device id=1", "magic x"])
    func malformed(header: String) async throws {
        let world = World()
        let verifier = try world.verifier()
        await #expect(throws: APIError.approvalInvalid) {
            try await verifier.verify(header: header, bound: world.bound)
        }
    }

    @Test("a request without a header is told that an approval is required")
    func required() async throws {
        let world = World()
        let verifier = try world.verifier()
        let known = KnownUser(identity: Identity(userID: world.user, clerkSubject: "user_1", sessionID: "s"))
        try await withRunningHost(
            routes: { router in
                let group = router.group().add(middleware: AuthenticationMiddleware(verifier: known))
                group.post("/transactions/p2p") { request, context in
                    _ = try await verifier.verify(request, context: context)
                    return APIResponse.noContent
                }
            },
            { running in
                let bearer = ["Authorization": "Bearer x"]
                let missing = try await running.post("/transactions/p2p", "{}", headers: bearer)
                #expect(missing.status == 403)
                #expect(missing.error.code == "approval_required")
                let headers = bearer.merging(["Transfa-Approval": try world.deviceHeader()]) { $1 }
                #expect(try await running.post("/transactions/p2p", "{}", headers: headers).status == 204)
                #expect(try await running.post("/transactions/p2p", "{} ", headers: headers).status == 403)
            }
        )
    }
}

/// Lets everybody in as one user.
struct KnownUser: TokenVerifier {
    let identity: Identity

    func verify(_ token: String) async throws(APIError) -> Identity { self.identity }
}
