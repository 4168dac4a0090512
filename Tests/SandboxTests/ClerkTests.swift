import Cryptography
import Foundation
import NIOHTTP1
import OutgoingHTTP
import Primitives
import Synchronization
import Testing

@testable import SandboxService

@Suite("The sandbox signs session tokens like Clerk", .timeLimit(.minutes(2)))
struct ClerkTests {
    private static func parts(_ token: String) throws -> (header: JSON, claims: JSON, signed: Data, signature: [UInt8])
    {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        try #require(parts.count == 3)
        let header = try #require(Base64URL.decode(parts[0]).flatMap { JSON(parsing: $0) })
        let claims = try #require(Base64URL.decode(parts[1]).flatMap { JSON(parsing: $0) })
        let signature = parts[2].isEmpty ? [] : try #require(Base64URL.decode(parts[2]))
        return (header, claims, Data("\(parts[0]).\(parts[1])".utf8), signature)
    }

    /// Whether the token is signed by a published key, as a verifier would see it.
    private static func verifies(_ token: String, _ sandbox: SandboxHandle) async throws -> Bool {
        let (header, _, signed, signature) = try Self.parts(token)
        let (_, jwks) = try await sandbox.send(.get, "/.well-known/jwks.json")
        let key = try #require(jwks["keys"]?.items?.first { $0["kid"] == header["kid"] })
        let modulus = try #require(key["n"]?.text.flatMap { Base64URL.decode($0) })
        let exponent = try #require(key["e"]?.text.flatMap { Base64URL.decode($0) })
        return try RSA.PublicKey(modulus: modulus, exponent: exponent).isValidSignature(signature, for: signed)
    }

    private static func token(_ sandbox: SandboxHandle, _ order: JSON) async throws -> String {
        try #require(try await sandbox.control(.post, "clerk/tokens", order)["jwt"]?.text)
    }

    @Test("a token verifies with the published keys and has Clerk's claims")
    func rightToken() async throws {
        try await withSandbox { sandbox in
            let token = try await Self.token(sandbox, ["subject": "user_1", "azp": "https://app.transfa.test"])
            #expect(try await Self.verifies(token, sandbox))
            let claims = try Self.parts(token).claims
            #expect(claims["sub"] == "user_1")
            #expect(claims["iss"] == .string(SandboxHandle.issuer))
            #expect(claims["azp"] == "https://app.transfa.test")
            #expect(claims["sid"]?.text?.hasPrefix("sess_") == true)
            let issued = try #require(claims["iat"]?.number)
            #expect(claims["exp"] == .integer(issued + 60))
        }
    }

    @Test("tokens can be wrong in every way that matters")
    func wrongTokens() async throws {
        try await withSandbox { sandbox in
            let foreign = try await Self.token(sandbox, ["subject": "user_1", "key": "foreign"])
            #expect(try await !Self.verifies(foreign, sandbox))
            let broken = try await Self.token(sandbox, ["subject": "user_1", "signature": "broken"])
            #expect(try await !Self.verifies(broken, sandbox))
            let none = try Self.parts(try await Self.token(sandbox, ["subject": "user_1", "alg": "none"]))
            #expect(none.header["alg"] == "none")
            #expect(none.signature.isEmpty)
            let confused = try Self.parts(try await Self.token(sandbox, ["subject": "user_1", "alg": "HS256"]))
            #expect(confused.signature.count == 32)
            let odd: JSON = [
                "subject": "user_1", "age_seconds": 3600, "issuer": "https://else.where", "sid": .null,
                "claims": ["sts": "pending", "exp": .null],
            ]
            let claims = try Self.parts(try await Self.token(sandbox, odd)).claims
            #expect(claims["iss"] == "https://else.where")
            #expect(claims["sts"] == "pending")
            #expect(claims["sid"] == nil)
            #expect(claims["exp"] == nil)
            let age = Int64(Date().timeIntervalSince1970) - (claims["iat"]?.number ?? 0)
            #expect((3600...3610).contains(age))
        }
    }

    @Test("a token says what is verified where it is asked to, as the template of session tokens does")
    func verified() async throws {
        try await withSandbox { sandbox in
            let token = try await Self.token(
                sandbox,
                ["subject": "user_1", "email": "a@transfa.test", "phone": "+2340000000001"]
            )
            let claims = try Self.parts(token).claims
            #expect(claims["email"] == "a@transfa.test" && claims["email_verified"] == true)
            #expect(claims["phone_number"] == "+2340000000001" && claims["phone_number_verified"] == true)
            let plain = try Self.parts(try await Self.token(sandbox, ["subject": "user_1"])).claims
            #expect(plain["email"] == nil && plain["email_verified"] == nil)
        }
    }

    @Test("a rotated key has an id of its own, and the old one stays published")
    func rotation() async throws {
        try await withSandbox { sandbox in
            let old = try await Self.token(sandbox, ["subject": "user_1"])
            try await sandbox.control(.post, "clerk/rotate")
            let new = try await Self.token(sandbox, ["subject": "user_1"])
            let kids = try [old, new].map { try Self.parts($0).header["kid"] }
            #expect(kids[0] != kids[1])
            #expect(try await Self.verifies(old, sandbox))
            #expect(try await Self.verifies(new, sandbox))
        }
    }

    @Test("a rotated key and the one before it are published after a restart too, until the old one is retired")
    func restart() async throws {
        try await withTemporaryDirectory { directory in
            let kids = Mutex([String]())
            try await withSandbox(directory: directory) { sandbox in
                _ = try await Self.token(sandbox, ["subject": "user_1"])
                try await sandbox.control(.post, "clerk/rotate")
                let published = try await Self.published(sandbox)
                kids.withLock { $0 = published }
            }
            try await withSandbox(directory: directory) { sandbox in
                let before = kids.withLock { $0 }
                #expect(before.count == 2)
                #expect(try await Self.published(sandbox) == before)
                try await sandbox.control(.post, "clerk/retire")
                #expect(try await Self.published(sandbox) == [before[0]])
                let token = try await Self.token(sandbox, ["subject": "user_1"])
                #expect(try await Self.verifies(token, sandbox))
            }
        }
    }

    private static func published(_ sandbox: SandboxHandle) async throws -> [String] {
        let (_, jwks) = try await sandbox.send(.get, "/.well-known/jwks.json")
        return jwks["keys"]?.items?.compactMap { $0["kid"]?.text } ?? []
    }
}
