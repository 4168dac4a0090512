import Contracts
import Cryptography
import Foundation
import Messaging
import Primitives
import Sealing
import ServiceTestSupport
import Testing

@testable import AuthService

@Suite("Approvals", .serialized)
struct ApprovalTests {
    private let hash = String(repeating: "0a", count: 32)

    private func request(
        _ method: String = "POST",
        _ path: String = "/transactions/p2p",
        hash: String? = nil
    ) -> ApprovalRequest {
        ApprovalRequest(pin: "1234", method: method, path: path, bodySha256: hash ?? self.hash)
    }

    @Test("an approval names one request exactly")
    func scope() throws {
        let scope = try ApprovalScope(checking: self.request())
        #expect(scope.method == "POST" && scope.path == "/transactions/p2p" && scope.bodyHash == self.hash)
        let bad: [(ApprovalRequest, FieldProblem)] = [
            (self.request("GET"), FieldProblem(pointer: "/method", rule: .method)),
            (self.request("post"), FieldProblem(pointer: "/method", rule: .method)),
            (self.request("POST", "transactions"), FieldProblem(pointer: "/path", rule: .path)),
            (self.request("POST", "/a?b=c"), FieldProblem(pointer: "/path", rule: .path)),
            (self.request("POST", "/a\nb"), FieldProblem(pointer: "/path", rule: .path)),
            (self.request(hash: self.hash.uppercased()), FieldProblem(pointer: "/body_sha256", rule: .bodyHash)),
            (self.request(hash: "00"), FieldProblem(pointer: "/body_sha256", rule: .bodyHash)),
        ]
        for (request, problem) in bad {
            #expect(throws: problem) { try ApprovalScope(checking: request) }
        }
    }

    @Test("a token is bound to user, method, path, body and nonce, ends after two minutes and is signed")
    func token() async throws {
        try await withAuth { world in
            let user = UserID(clerkSubject: "user_ada")
            try await world.onboard("user_ada", Sample.personal("ada"))
            let pin = try PIN("4821", pointer: "/pin")
            try await world.setPIN(pin, current: nil, of: user, cause: .init())
            let answer = try await world.approve(try ApprovalScope(checking: self.request()), pin: pin, of: user)
            let parts = answer.approvalToken.split(separator: ".")
            let claims = try JSONDecoder().decode(ApprovalClaims.self, from: Data(Base64URL.decode(parts[1]) ?? []))
            #expect(claims.iss == "transfa-auth" && claims.sub == user.description)
            #expect(claims.htm == "POST" && claims.htu == "/transactions/p2p" && claims.bsh == self.hash)
            #expect(claims.jti == answer.nonce.lowercased && claims.exp == claims.iat + 120)
            #expect(answer.expiresAt == Timestamp.text(claims.expiry))
            let signature = try P256.Signature(rawRepresentation: Base64URL.decode(parts[2]) ?? [])
            let signed = Array("\(parts[0]).\(parts[1])".utf8)
            #expect(world.signingKey.publicKey.isValidSignature(signature, for: signed))
            let header = String(decoding: Base64URL.decode(parts[0]) ?? [], as: UTF8.self)
            #expect(header == #"{"alg":"ES256","kid":"\#(world.signer.publicKeys[0].thumbprint)","typ":"JWT"}"#)
        }
    }

    @Test("a wrong PIN gets no token")
    func wrong() async throws {
        try await withAuth { world in
            let user = UserID(clerkSubject: "user_ada")
            try await world.onboard("user_ada", Sample.personal("ada"))
            let scope = try ApprovalScope(checking: self.request())
            await #expect(throws: AuthError.pinNotSet) {
                try await world.approve(scope, pin: try PIN("4821", pointer: "/pin"), of: user)
            }
            try await world.setPIN(try PIN("4821", pointer: "/pin"), current: nil, of: user, cause: .init())
            await #expect(throws: AuthError.pinInvalid(attemptsLeft: 4)) {
                try await world.approve(scope, pin: try PIN("4822", pointer: "/pin"), of: user)
            }
        }
    }
}
