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
            #expect(claims.sid == "session" && claims.seq == 2, "of user.created and pin.set")
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

    @Test("a token is older than any later change of the PIN, and of a PIN that was replaced none is given")
    func sequence() async throws {
        try await withAuth { world in
            let user = UserID(clerkSubject: "user_ada")
            try await world.onboard("user_ada", Sample.personal("ada"))
            let (old, new) = (try PIN("4821", pointer: "/pin"), try PIN("739155", pointer: "/pin"))
            try await world.setPIN(old, current: nil, of: user, cause: .init())
            let scope = try ApprovalScope(checking: self.request())
            let before = try self.claims(of: try await world.approve(scope, pin: old, of: user))
            // Right when it was compared, and another one by the time the token is made.
            let hash = try await world.checkPIN(old, of: user, cause: .init())
            try await world.setPIN(new, current: old, of: user, cause: .init())
            await #expect(throws: AuthError.pinChanged) {
                try await world.asUser(user) {
                    try await world.issueApproval(scope, hash, user: user, session: "session", in: $0)
                }
            }
            let after = try self.claims(of: try await world.approve(scope, pin: new, of: user))
            let changed = try await world.said(about: user).first { $0.type == "pin.changed" }?.sequence
            let sequence = try #require(changed)
            #expect(before.seq < sequence && after.seq >= sequence)
        }
    }

    @Test("in a session that Clerk has ended nothing is approved, in another one it is, and the end is told once")
    func session() async throws {
        try await withAuth { world in
            let user = UserID(clerkSubject: "user_ada")
            try await world.onboard("user_ada", Sample.personal("ada"))
            let pin = try PIN("4821", pointer: "/pin")
            try await world.setPIN(pin, current: nil, of: user, cause: .init())
            let scope = try ApprovalScope(checking: self.request())
            for (index, word) in ["ended", "removed", "revoked"].enumerated() {
                let body = #"{"type":"session.\#(word)","data":{"id":"sess_1","user_id":"user_ada"}}"#
                let message = try #require(ClerkMessage(parsing: Array(body.utf8)))
                #expect(message == .sessionEnded(subject: "user_ada", session: "sess_1"))
                try await world.takeClerkMessage(message, id: "msg_\(index)", cause: .init())
            }
            #expect(try await world.said(SessionEnded.self).map(\.sessionID) == ["sess_1"])
            await #expect(throws: AuthError.sessionEnded) {
                try await world.approve(scope, pin: pin, of: user, in: "sess_1")
            }
            _ = try await world.approve(scope, pin: pin, of: user, in: "sess_2")
            // Whose subject is not known here has nothing that could end.
            let stranger = ClerkMessage.sessionEnded(subject: "user_nobody", session: "sess_3")
            try await world.takeClerkMessage(stranger, id: "msg_9", cause: .init())
            #expect(try await world.said(SessionEnded.self).count == 1)
        }
    }

    private func claims(of answer: ApprovalResponse) throws -> ApprovalClaims {
        let parts = answer.approvalToken.split(separator: ".")
        return try JSONDecoder().decode(ApprovalClaims.self, from: Data(Base64URL.decode(parts[1]) ?? []))
    }
}
