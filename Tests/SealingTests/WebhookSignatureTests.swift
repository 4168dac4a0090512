import Foundation
import Sealing
import Testing

@Suite("Webhook signatures")
struct WebhookSignatureTests {
    private static let anchorBody = Data(#"{"data":{"id":"1-anc_et","type":"nip.transfer.successful"}}"#.utf8)
    private static let hexForm = "NmEzZWVkZjQ5NGFiZGQ5Y2M2Zjc2OTRkNzg3NGE0ZTI1YThmZTM2Yg=="
    private static let rawForm = "aj7t9JSr3ZzG92lNeHSk4lqP42s="

    private static let svixBody = Data(#"{"test": 2432232314}"#.utf8)
    private static let svixID = "msg_p5jXN8AQM9LWM0D4loKWxJek"
    private static let svixTime: Int64 = 1_614_265_330
    private static let svixSignature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="

    private static func secret() throws -> SvixSecret { try SvixSecret(text: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw") }

    private static func verify(
        id: String = Self.svixID,
        time: String = "1614265330",
        signature: String = Self.svixSignature,
        body: Data = Self.svixBody,
        secrets: [SvixSecret],
        secondsLater: Double = 0
    ) -> SvixVerdict {
        WebhookSignature.verifySvix(
            SvixHeaders(id: id, timestamp: time, signature: signature),
            body: body,
            secrets: secrets,
            now: Date(timeIntervalSince1970: Double(Self.svixTime) + secondsLater)
        )
    }

    // MARK: Anchor

    @Test("Anchor's signature is base64 of the hexadecimal digest")
    func anchorVector() {
        #expect(WebhookSignature.anchor(body: Self.anchorBody, token: "12345") == Self.hexForm)
    }

    @Test("both readings of Anchor's documentation are accepted, also while the token is being replaced")
    func anchorAccepts() {
        for header in [Self.hexForm, Self.rawForm] {
            #expect(WebhookSignature.verifyAnchor(header: header, body: Self.anchorBody, tokens: ["12345"]))
            #expect(WebhookSignature.verifyAnchor(header: header, body: Self.anchorBody, tokens: ["new", "12345"]))
        }
    }

    @Test("a changed body, header or token is not Anchor's")
    func anchorRefuses() {
        for index in Self.anchorBody.indices {
            var body = Self.anchorBody
            body[index] ^= 1
            #expect(!WebhookSignature.verifyAnchor(header: Self.hexForm, body: body, tokens: ["12345"]))
        }
        for header in [
            "", "==", String(Self.hexForm.dropLast()), Self.hexForm + "=", "6a3eedf494abdd9cc6f7694d7874a4e25a8fe36b",
        ] {
            #expect(!WebhookSignature.verifyAnchor(header: header, body: Self.anchorBody, tokens: ["12345"]))
        }
        #expect(!WebhookSignature.verifyAnchor(header: Self.hexForm, body: Self.anchorBody, tokens: ["1234"]))
        #expect(!WebhookSignature.verifyAnchor(header: Self.hexForm, body: Self.anchorBody, tokens: []))
    }

    @Test("an empty token signs nothing")
    func anchorEmptyToken() {
        let forged = WebhookSignature.anchor(body: Self.anchorBody, token: "")
        #expect(!WebhookSignature.verifyAnchor(header: forged, body: Self.anchorBody, tokens: [""]))
    }

    // MARK: Svix

    @Test("Svix's published example is accepted and made")
    func svixVector() throws {
        let secret = try Self.secret()
        #expect(Self.verify(secrets: [secret]) == .valid)
        let made = WebhookSignature.svix(id: Self.svixID, timestamp: Self.svixTime, body: Self.svixBody, secret: secret)
        #expect(made == Self.svixSignature)
    }

    @Test(
        "five minutes either way are fresh, more is stale",
        arguments: [(300, .valid), (-300, .valid), (301, .stale), (-301, .stale), (86_400, .stale)]
            as [(Double, SvixVerdict)]
    )
    func svixTolerance(_ secondsLater: Double, _ verdict: SvixVerdict) throws {
        #expect(Self.verify(secrets: [try Self.secret()], secondsLater: secondsLater) == verdict)
    }

    @Test("one right signature among several is enough, and so is one right secret")
    func svixRotation() throws {
        let other = try SvixSecret(text: "whsec_" + Data(repeating: 1, count: 24).base64EncodedString())
        let secret = try Self.secret()
        let wrong = "v1,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
        #expect(Self.verify(signature: "\(wrong) v2,x \(Self.svixSignature)", secrets: [secret]) == .valid)
        #expect(Self.verify(secrets: [other, secret]) == .valid)
        #expect(Self.verify(secrets: [other]) == .wrongSignature)
        #expect(Self.verify(signature: wrong, secrets: [secret]) == .wrongSignature)
        #expect(Self.verify(secrets: []) == .wrongSignature)
    }

    @Test("a change of id, time or any byte of the body is found")
    func svixTampered() throws {
        let secrets = [try Self.secret()]
        #expect(Self.verify(id: "msg_other", secrets: secrets) == .wrongSignature)
        #expect(Self.verify(time: "1614265331", secrets: secrets) == .wrongSignature)
        for index in Self.svixBody.indices {
            var body = Self.svixBody
            body[index] ^= 1
            #expect(Self.verify(body: body, secrets: secrets) == .wrongSignature)
        }
    }

    @Test("a header without its form is malformed")
    func svixMalformed() throws {
        let secrets = [try Self.secret()]
        #expect(Self.verify(id: "", secrets: secrets) == .malformed)
        for time in ["", "now", "-5", "99999999999999999999", "1614265330000"] {
            #expect(Self.verify(time: time, secrets: secrets) == .malformed)
        }
        for signature in ["", "v2,x", "g0hM9SsE", String(repeating: "v1,x ", count: 17)] {
            #expect(Self.verify(signature: signature, secrets: secrets) == .malformed)
        }
    }

    @Test(
        "an empty, short or undecodable secret is refused",
        arguments: ["", "whsec_", "whsec_AAAA", "whsec_!", "hunter2"]
    )
    func badSecret(_ text: String) {
        let error = #expect(throws: SealingError.self) { try SvixSecret(text: text) }
        #expect(error?.code == .invalidKey)
    }
}
