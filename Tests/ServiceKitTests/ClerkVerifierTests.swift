import Cryptography
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import OutgoingHTTP
import Primitives
import Testing

@testable import ServiceKit

private let issuer = ClerkClaims.issuer
private let party = ClerkClaims.party

/// Signed once for all tests: making RSA keys is slow.
private let signer = Result { try ClerkSigner(keyID: "ins_1") }
private let stranger = Result { try ClerkSigner(keyID: "ins_1") }

private func settings(requireAZP: Bool = false, url: String = "http://127.0.0.1:1/keys") throws -> ClerkSettings {
    try ClerkSettings(
        SettingsReader([
            "CLERK_JWKS_URL": url, "CLERK_ISSUER": issuer, "CLERK_AUTHORIZED_PARTIES": "\(party), https://other.test",
            "CLERK_REQUIRE_AZP": requireAZP ? "true" : "false",
        ])
    )
}

private func always(_ document: String?) -> @Sendable (Int) -> String? { { _ in document } }

/// One after the other, then none.
private func inTurn(_ documents: [String]) -> @Sendable (Int) -> String? {
    { $0 <= documents.count ? documents[$0 - 1] : nil }
}

private let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

/// A verifier whose key set is a constant.
private func verifier(clock: AdjustableClock = AdjustableClock(), requireAZP: Bool = false) throws -> ClerkVerifier {
    let jwk = try StrictJSONParser.parse(Array(signer.get().jwk.utf8))
    return ClerkVerifier(
        settings: try settings(requireAZP: requireAZP),
        keys: KeySetCache(logger: quiet) { [jwk] },
        clock: clock
    )
}

private func unsigned(_ header: String, _ claims: ClerkClaims, signature: [UInt8] = []) throws -> String {
    let body = try JSONEncoder().encode(claims)
    return "\(Base64URL.encode(Array(header.utf8))).\(Base64URL.encode(body)).\(Base64URL.encode(signature))"
}

@Suite("session tokens")
struct ClerkVerifierTests {
    @Test("a good token gives user, subject and session, also from the cache")
    func good() async throws {
        let verifier = try verifier()
        let token = try signer.get().sign(ClerkClaims(now: Date()))
        for _ in 0..<2 {
            let identity = try await verifier.verify(token)
            #expect(identity.userID == UserID(clerkSubject: "user_2abc"))
            #expect(identity.clerkSubject == "user_2abc")
            #expect(identity.sessionID == "sess_1")
        }
    }

    @Test("the organization of a session and the role in it are read from tokens of both versions")
    func organization() async throws {
        let wanted = Identity.Organization(id: "org_1", role: "operator")
        var newer = ClerkClaims(now: Date())
        newer.o = ["id": "org_1", "rol": "operator", "slg": "ours"]
        var older = ClerkClaims(now: Date())
        (older.organizationID, older.organizationRole) = ("org_1", "org:operator")
        var half = ClerkClaims(now: Date())
        half.organizationRole = "org:operator"
        let verifier = try verifier()
        for (claims, organization) in [(newer, wanted), (older, wanted), (half, nil), (ClerkClaims(now: Date()), nil)] {
            let identity = try await verifier.verify(try signer.get().sign(claims))
            #expect(identity.organization == organization)
        }
    }

    @Test("claims that are not good are refused")
    func claims() async throws {
        let now = Date()
        let changes: [(String, (inout ClerkClaims) -> Void)] = [
            ("expired", { $0.exp = now.timeIntervalSince1970 - 6 }),
            ("not yet", { $0.nbf = now.timeIntervalSince1970 + 30 }),
            ("issued in the future", { $0.iat = now.timeIntervalSince1970 + 30 }),
            ("wrong issuer", { $0.iss = "https://clerk.example.test.evil" }),
            ("wrong party", { $0.azp = "https://evil.test" }),
            ("no session", { $0.sid = nil }),
            ("no subject", { $0.sub = nil }),
            ("empty subject", { $0.sub = "" }),
            ("pending", { $0.sts = "pending" }),
        ]
        let verifier = try verifier()
        for (name, change) in changes {
            var claims = ClerkClaims(now: now)
            change(&claims)
            let token = try signer.get().sign(claims)
            await #expect(throws: APIError.unauthenticated, "\(name)") { try await verifier.verify(token) }
        }
    }

    @Test("when the user proved who they are is the time of the factor in use that is longest ago")
    func proof() async throws {
        let now = Date()
        let verifier = try verifier()
        let cases: [(fva: [Int]?, minutes: Double?)] = [
            ([0, -1], 0), ([7, -1], 7), ([3, 9], 9), ([9, 3], 9), (nil, nil), ([-1, -1], nil), ([3], nil),
            ([3, -2], nil), ([Int.max, -1], nil), ([1, 2, 3], nil),
        ]
        for (fva, minutes) in cases {
            var claims = ClerkClaims(now: now)
            claims.fva = fva
            let proven = try await verifier.verify(try signer.get().sign(claims)).provenAt
            let age = proven.map { (now.timeIntervalSince($0) / 60).rounded() }
            #expect(age == minutes, "\(String(describing: fva))")
        }
    }

    @Test("a token that is good for longer than a session token ever is, is refused")
    func longLife() async throws {
        let verifier = try verifier()
        for (seconds, isTaken) in [(890.0, true), (910, false), (315_360_000, false)] {
            var claims = ClerkClaims(now: Date())
            claims.exp = claims.iat + seconds
            let token = try signer.get().sign(claims)
            let identity = try? await verifier.verify(token)
            #expect((identity != nil) == isTaken, "\(seconds)")
        }
        // Issued long ago, it has not become good for less.
        var old = ClerkClaims(now: Date())
        old.iat -= 3600
        let token = try signer.get().sign(old)
        await #expect(throws: APIError.unauthenticated) { try await verifier.verify(token) }
    }

    @Test("an address and a number count only where the token says that they are verified")
    func verifiedContact() async throws {
        let verifier = try verifier()
        var claims = ClerkClaims(now: Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down)))
        #expect(try await verifier.verify(try signer.get().sign(claims)).contact.isEmpty)
        (claims.email, claims.phone) = ("ada@example.com", "+2340000000001")
        #expect(try await verifier.verify(try signer.get().sign(claims)).contact.isEmpty)
        (claims.emailVerified, claims.phoneVerified) = (false, "false")
        #expect(try await verifier.verify(try signer.get().sign(claims)).contact.isEmpty)
        (claims.emailVerified, claims.phoneVerified) = (true, "true")
        let said = Date(timeIntervalSince1970: claims.iat)
        let wanted = VerifiedContact(email: "ada@example.com", phone: "+2340000000001", saidAt: said)
        #expect(try await verifier.verify(try signer.get().sign(claims)).contact == wanted)
    }

    @Test("five seconds of skew are forgiven")
    func skew() async throws {
        // Made before the time is read: on a busy machine a new key takes longer than what is forgiven.
        let (key, verifying) = (try signer.get(), try verifier())
        let now = Date()
        var claims = ClerkClaims(now: now)
        claims.exp = now.timeIntervalSince1970 - 1
        claims.nbf = now.timeIntervalSince1970 + 4
        _ = try await verifying.verify(try key.sign(claims))
    }

    @Test("an absent party is accepted unless it is required, a wrong one never")
    func absentParty() async throws {
        var claims = ClerkClaims(now: Date())
        claims.azp = nil
        let token = try signer.get().sign(claims)
        _ = try await verifier().verify(token)
        let strict = try verifier(requireAZP: true)
        await #expect(throws: APIError.unauthenticated) { try await strict.verify(token) }
    }

    @Test("forged headers are refused before a key is looked at")
    func forgedHeaders() async throws {
        let verifier = try verifier()
        let claims = ClerkClaims(now: Date())
        let none = try unsigned(#"{"alg":"none","typ":"JWT","kid":"ins_1"}"#, claims)
        await #expect(throws: APIError.unauthenticated) { try await verifier.verify(none) }
        // HS256 with the public key as the secret: the classic confusion.
        let header = Base64URL.encode(Array(#"{"alg":"HS256","typ":"JWT","kid":"ins_1"}"#.utf8))
        let signed = "\(header).\(Base64URL.encode(try JSONEncoder().encode(claims)))"
        let pem = try signer.get().privateKey.publicKey.pemRepresentation
        let mac = HMAC<SHA256>.authenticationCode(for: Array(signed.utf8), using: SymmetricKey(data: Array(pem.utf8)))
        let confused = "\(signed).\(Base64URL.encode(Array(mac)))"
        await #expect(throws: APIError.unauthenticated) { try await verifier.verify(confused) }
        let critical = try unsigned(#"{"alg":"RS256","kid":"ins_1","crit":["x"]}"#, claims, signature: [1, 2])
        await #expect(throws: APIError.unauthenticated) { try await verifier.verify(critical) }
    }

    @Test("a signature of another key, a changed claim and garbage are refused")
    func forgedSignatures() async throws {
        let verifier = try verifier()
        let claims = ClerkClaims(now: Date())
        let foreign = try stranger.get().sign(claims)
        await #expect(throws: APIError.unauthenticated) { try await verifier.verify(foreign) }
        var parts = try signer.get().sign(claims).split(separator: ".").map(String.init)
        var changed = claims
        changed.sub = "user_other"
        parts[1] = Base64URL.encode(try JSONEncoder().encode(changed))
        let tampered = parts.joined(separator: ".")
        await #expect(throws: APIError.unauthenticated) { try await verifier.verify(tampered) }
        for garbage in ["", ".", "..", "a.b.c", "a.b.c.d", String(repeating: "x", count: 100_000)] {
            await #expect(throws: APIError.unauthenticated) { try await verifier.verify(garbage) }
        }
    }

    @Test("a cached token is refused once it has expired")
    func cacheExpiry() async throws {
        let clock = AdjustableClock()
        let verifier = try verifier(clock: clock)
        let token = try signer.get().sign(ClerkClaims(now: Date()))
        _ = try await verifier.verify(token)
        clock.offset = .seconds(70)
        await #expect(throws: APIError.unauthenticated) { try await verifier.verify(token) }
    }

    @Test("keys come from the URL, once for many requests at once")
    func fetchedOnce() async throws {
        let jwk = try signer.get().jwk
        try await withKeyServer(always(#"{"keys":[\#(jwk)]}"#)) { url, count in
            let verifier = ClerkVerifier(
                settings: try settings(url: url),
                http: HTTPClient(),
                clock: AdjustableClock(),
                logger: quiet
            )
            let token = try signer.get().sign(ClerkClaims(now: Date()))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<20 {
                    group.addTask { _ = try await verifier.verify(token) }
                }
                try await group.waitForAll()
            }
            #expect(count() == 1)
        }
    }

    @Test("an unknown key id is fetched for, but not again and again")
    func unknownKey() async throws {
        let jwk = try signer.get().jwk
        try await withKeyServer(always(#"{"keys":[\#(jwk)]}"#)) { url, count in
            let verifier = ClerkVerifier(
                settings: try settings(url: url),
                http: HTTPClient(),
                clock: AdjustableClock(),
                logger: quiet
            )
            for index in 0..<10 {
                let token = try signer.get().sign(ClerkClaims(now: Date()), as: "ins_\(index + 100)")
                await #expect(throws: APIError.unauthenticated) { try await verifier.verify(token) }
            }
            // Once because nothing was known, and once for all that are unknown.
            #expect(count() == 2)
        }
    }

    @Test("a rotated key is found by its new id, and old keys stay when a fetch fails")
    func rotation() async throws {
        let (first, second) = (try ClerkSigner(keyID: "old"), try ClerkSigner(keyID: "new"))
        let documents = [#"{"keys":[\#(first.jwk)]}"#, #"{"keys":[\#(first.jwk),\#(second.jwk)]}"#]
        try await withKeyServer(inTurn(documents)) { url, count in
            var limits = KeySetCache<RS256Key>.Limits()
            limits.lifetime = .zero
            limits.pauseBetweenFetches = .zero
            let keys = KeySetCache<RS256Key>(limits: limits, logger: quiet) {
                try await JSONWebKeySet.fetch(url: url, bearer: nil, http: HTTPClient())
            }
            let verifier = ClerkVerifier(settings: try settings(), keys: keys, clock: AdjustableClock())
            _ = try await verifier.verify(try first.sign(ClerkClaims(now: Date())))
            _ = try await verifier.verify(try second.sign(ClerkClaims(now: Date())))
            // The third fetch fails: keys are stale now, and still good.
            var later = ClerkClaims(now: Date())
            later.sid = "sess_2"
            _ = try await verifier.verify(try first.sign(later))
            #expect(count() == 3)
        }
    }

    @Test("a key that was published just after a fetch is found at once, and unknown ones are fetched for once")
    func publishedJustAfter() async throws {
        let (first, second) = (try ClerkSigner(keyID: "old"), try ClerkSigner(keyID: "new"))
        let documents = [#"{"keys":[\#(first.jwk)]}"#, #"{"keys":[\#(first.jwk),\#(second.jwk)]}"#]
        try await withKeyServer(inTurn(documents)) { url, count in
            let verifier = ClerkVerifier(
                settings: try settings(url: url),
                http: HTTPClient(),
                clock: AdjustableClock(),
                logger: quiet
            )
            _ = try await verifier.verify(try first.sign(ClerkClaims(now: Date())))
            let token = try second.sign(ClerkClaims(now: Date()))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<20 { group.addTask { _ = try await verifier.verify(token) } }
                try await group.waitForAll()
            }
            #expect(count() == 2)
            for index in 0..<10 {
                let unknown = try first.sign(ClerkClaims(now: Date()), as: "ins_\(index)")
                await #expect(throws: APIError.unauthenticated) { try await verifier.verify(unknown) }
            }
            #expect(count() == 2)
        }
    }

    @Test("without any key ever fetched the answer is 503, not 401")
    func neverFetched() async throws {
        try await withKeyServer(always(nil)) { url, _ in
            let verifier = ClerkVerifier(
                settings: try settings(url: url),
                http: HTTPClient(),
                clock: AdjustableClock(),
                logger: quiet
            )
            let token = try signer.get().sign(ClerkClaims(now: Date()))
            let error = await #expect(throws: APIError.self) { try await verifier.verify(token) }
            #expect(error?.status == .serviceUnavailable)
        }
    }

    @Test("a route behind authentication answers 401 with a challenge and no reason")
    func middleware() async throws {
        let verifier = try verifier()
        let token = try signer.get().sign(ClerkClaims(now: Date()))
        try await withRunningHost(
            routes: { router in
                router.group().add(middleware: AuthenticationMiddleware(verifier: verifier)).get("/me") { _, context in
                    let identity = try context.requireIdentity()
                    return APIResponse(.ok, body: Array("\"\(identity.userID)\"".utf8))
                }
            },
            { running in
                let good = try await running.get("/me", headers: ["Authorization": "Bearer \(token)"])
                #expect(good.body == "\"\(UserID(clerkSubject: "user_2abc"))\"")
                for header in ["Bearer nonsense", "Basic abc", "Bearer", ""] {
                    let bad = try await running.get("/me", headers: ["Authorization": header])
                    #expect(bad.status == 401)
                    #expect(bad.header("WWW-Authenticate") == "Bearer")
                    #expect(bad.error.code == "unauthenticated")
                }
            }
        )
    }
}
