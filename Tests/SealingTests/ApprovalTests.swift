import Cryptography
import Foundation
import Sealing
import Testing

@Suite("Approvals")
struct ApprovalTests {
    private let key = DevicePrivateKey()
    private let approval = ApprovalText(
        method: "post",
        path: "/transactions/p2p",
        body: Data(#"{"amount":100}"#.utf8),
        nonce: UUID(uuid: (1, 2, 3, 4, 5, 6, 0x77, 8, 0x89, 10, 11, 12, 13, 14, 15, 0xab)),
        timestamp: 1_795_223_225,
        user: UUID(uuid: (0xab, 2, 3, 4, 5, 6, 0x57, 8, 0x89, 10, 11, 12, 13, 14, 15, 1))
    )

    @Test("the canonical text is seven lines, as every client must build it")
    func canonicalText() {
        let expected = """
            TRANSFA-APPROVAL-1
            POST
            /transactions/p2p
            4d4bbe59c6aad22442cde199a6a8a5f034405fcd78fb5a81c24ef249de1c45f1
            01020304-0506-7708-890a-0b0c0d0e0fab
            1795223225
            ab020304-0506-5708-890a-0b0c0d0e0f01
            """
        #expect(self.approval.text == expected)
    }

    @Test("a signature of the device is accepted")
    func valid() throws {
        let signature = try self.key.sign(self.approval)
        #expect(signature.count == DeviceSignature.byteCount)
        #expect(DeviceSignature.verify(signature, of: self.approval, by: self.key.publicKey))
    }

    @Test("a signature for any other request, user, nonce or time is not accepted")
    func otherRequests() throws {
        let signature = try self.key.sign(self.approval)
        let text = self.approval
        let others = [
            ApprovalText(
                method: "PUT",
                path: text.path,
                bodySHA256: text.bodySHA256,
                nonce: text.nonce,
                timestamp: text.timestamp,
                user: text.user
            ),
            ApprovalText(
                method: text.method,
                path: "/transactions/p2q",
                bodySHA256: text.bodySHA256,
                nonce: text.nonce,
                timestamp: text.timestamp,
                user: text.user
            ),
            ApprovalText(
                method: text.method,
                path: text.path,
                body: Data(),
                nonce: text.nonce,
                timestamp: text.timestamp,
                user: text.user
            ),
            ApprovalText(
                method: text.method,
                path: text.path,
                bodySHA256: text.bodySHA256,
                nonce: UUID(),
                timestamp: text.timestamp,
                user: text.user
            ),
            ApprovalText(
                method: text.method,
                path: text.path,
                bodySHA256: text.bodySHA256,
                nonce: text.nonce,
                timestamp: text.timestamp + 1,
                user: text.user
            ),
            ApprovalText(
                method: text.method,
                path: text.path,
                bodySHA256: text.bodySHA256,
                nonce: text.nonce,
                timestamp: text.timestamp,
                user: UUID()
            ),
        ]
        for other in others {
            #expect(!DeviceSignature.verify(signature, of: other, by: self.key.publicKey))
        }
        #expect(!DeviceSignature.verify(signature, of: self.approval, by: DevicePrivateKey().publicKey))
    }

    @Test("a change of any bit of the signature, and any other length, is not accepted")
    func tampered() throws {
        let signature = try self.key.sign(self.approval)
        for bit in 0..<signature.count * 8 {
            var changed = signature
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(!DeviceSignature.verify(changed, of: self.approval, by: self.key.publicKey))
        }
        for length in [0, 1, 63, 65, 128] {
            let other = Array((signature + signature).prefix(length))
            #expect(!DeviceSignature.verify(other, of: self.approval, by: self.key.publicKey))
        }
        #expect(!DeviceSignature.verify(Array(repeating: 0, count: 64), of: self.approval, by: self.key.publicKey))
    }

    @Test("a path that could pass for two lines is not accepted")
    func ambiguous() throws {
        let twoLines = ApprovalText(
            method: "POST",
            path: "/transactions\n/p2p",
            bodySHA256: self.approval.bodySHA256,
            nonce: self.approval.nonce,
            timestamp: 1,
            user: self.approval.user
        )
        let signature = try self.key.sign(twoLines)
        #expect(!DeviceSignature.verify(signature, of: twoLines, by: self.key.publicKey))
    }

    @Test("a public key is the same from its point, its JWK and its PEM")
    func keyForms() throws {
        let key = P256.PrivateKey()
        let expected = try DevicePublicKey(x963: key.publicKey.x963Representation)
        #expect(try DevicePublicKey(pem: key.publicKey.pemRepresentation) == expected)
        #expect(try DevicePublicKey(jwkX: expected.jwk.x, y: expected.jwk.y) == expected)
        #expect(expected.x963.count == 65)
        #expect(expected.thumbprint.utf8.count == 43)
        #expect(try DevicePrivateKey(bytes: key.rawRepresentation).publicKey == expected)
    }

    @Test("what is no key of the curve is refused")
    func badKeys() {
        #expect(throws: SealingError.self) { try DevicePublicKey(x963: [4] + Array(repeating: 1, count: 64)) }
        #expect(throws: SealingError.self) { try DevicePublicKey(x963: []) }
        #expect(throws: SealingError.self) { try DevicePublicKey(jwkX: "AA", y: "AA") }
        let largerCurve = """
            -----BEGIN PUBLIC KEY-----
            MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEmchtztcLaCT/P1J/PJ6RxsYyQE1b6s1F
            ALJq3ooSDUyvNaRD/nO+kUV3SMsiJxc8aQ4DScGcbdwKUU5B1SLtIlV1rAx3GAp+
            1kMCETIcGS5+wFuFHgnP4I99VJd4j+US
            -----END PUBLIC KEY-----
            """
        #expect(throws: SealingError.self) { try DevicePublicKey(pem: largerCurve) }
    }

    @Test("a header reads back to what was written, in both forms")
    func headerRoundTrip() throws {
        let headers: [ApprovalHeader] = [
            .device(
                DeviceApproval(
                    device: UUID(),
                    nonce: UUID(),
                    timestamp: 0,
                    signature: Array(repeating: 0xfe, count: 64)
                )
            ),
            .device(
                DeviceApproval(
                    device: UUID(),
                    nonce: UUID(),
                    timestamp: .max,
                    signature: try self.key.sign(self.approval)
                )
            ),
            .pin(token: "eyJhbGciOiJFUzI1NiJ9.eyJ4IjoxfQ.c2ln-_nat"),
        ]
        for header in headers { #expect(try ApprovalHeader(parsing: header.value) == header) }
    }

    @Test("spaces, the order of parameters and the scheme's case do not matter")
    func headerTolerance() throws {
        let id = UUID()
        let nonce = UUID()
        let sig = String(repeating: "A", count: 86)
        let header = try ApprovalHeader(
            parsing: "  Device  sig=\(sig),ts=5 ,  nonce=\(nonce.uuidString),id=\(id.uuidString) "
        )
        #expect(
            header
                == .device(
                    DeviceApproval(device: id, nonce: nonce, timestamp: 5, signature: Array(repeating: 0, count: 64))
                )
        )
        #expect(try ApprovalHeader(parsing: "PIN a.b.c") == .pin(token: "a.b.c"))
    }

    @Test("everything else is refused", arguments: Self.badHeaders)
    func badHeader(_ value: String) {
        let error = #expect(throws: SealingError.self) { try ApprovalHeader(parsing: value) }
        #expect(error?.code == .malformed)
    }

    private static let badHeaders: [String] = {
        let id = "id=01020304-0506-7708-890a-0b0c0d0e0fab"
        let nonce = "nonce=01020304-0506-7708-890a-0b0c0d0e0fac"
        let sig = "sig=" + String(repeating: "A", count: 86)
        return [
            "", "device", "pin", "pin ", "pin a.b", "pin a.b.c.d", "pin a..c", "pin a.b.c d", "pin é.b.c",
            "bearer a.b.c",
            "device \(id), \(nonce), ts=1", "device \(id), \(nonce), ts=1, sig=AAAA",
            "device \(id), \(nonce), ts=-1, \(sig)",
            "device \(id), \(nonce), ts=+1, \(sig)", "device \(id), \(nonce), ts=01, \(sig)",
            "device \(id), \(nonce), ts=1.0, \(sig)",
            "device \(id), \(nonce), ts=9223372036854775808, \(sig)", "device \(id), \(nonce), ts=1, \(sig), \(sig)",
            "device \(id), \(nonce), ts=1, \(sig), more=1", "device id=x, \(nonce), ts=1, \(sig)",
            "device \(id), \(nonce), ts=1, \(sig),",
            "device \(id), \(nonce), ts=1, \(sig)==", "device \(id); \(nonce); ts=1; \(sig)",
            "pin " + String(repeating: "a", count: 5000) + ".b.c",
        ]
    }()

    @Test("a header's description shows neither token nor signature")
    func redacted() throws {
        let signature = try self.key.sign(self.approval)
        let device = ApprovalHeader.device(
            DeviceApproval(device: UUID(), nonce: UUID(), timestamp: 1, signature: signature)
        )
        #expect(!"\(device)".contains("sig"))
        #expect(!"\(ApprovalHeader.pin(token: "secret.b.c"))".contains("secret"))
    }
}
