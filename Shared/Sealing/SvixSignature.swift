import Cryptography
public import Foundation
import Primitives

/// The headers of a webhook that Svix delivers (Clerk's are).
public struct SvixHeaders: Hashable, Sendable {
    /// `svix-id`: the same on every retry, so it tells duplicates.
    public let id: String
    /// `svix-timestamp`: Unix seconds as text, as signed.
    public let timestamp: String
    /// `svix-signature`: one or several `v1,<base64>` separated by spaces.
    public let signature: String

    /// Takes the three values as received.
    public init(id: String, timestamp: String, signature: String) {
        self.id = id
        self.timestamp = timestamp
        self.signature = signature
    }
}

/// The secret of a webhook endpoint, `whsec_<base64>`.
public struct SvixSecret: Sendable {
    fileprivate let key: SymmetricKey

    /// Reads the text form.
    ///
    /// - Throws: `SealingError` with `invalidKey`; an empty secret would let anyone sign.
    public init(text: String) throws(SealingError) {
        let encoded = text.hasPrefix("whsec_") ? String(text.dropFirst("whsec_".count)) : text
        guard let bytes = Data(base64Encoded: encoded), bytes.count >= 16 else {
            throw SealingError(.invalidKey, "a webhook secret is whsec_ and at least 16 bytes in base64")
        }
        self.key = SymmetricKey(data: bytes)
    }
}

extension SvixSecret: CustomStringConvertible, CustomReflectable {
    /// A word instead of the secret.
    public var description: String { "SvixSecret([redacted])" }
    /// No children, so that `dump` shows nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// What a check of a Svix signature found.
public enum SvixVerdict: Hashable, Sendable {
    /// Signed by one of the secrets, and fresh.
    case valid
    /// A header does not have its form.
    case malformed
    /// Too old or from the future, so possibly played again.
    case stale
    /// Signed by none of the secrets.
    case wrongSignature
}

extension WebhookSignature {
    /// How far a timestamp may be from now, either way: five minutes, as Svix's own libraries have it.
    public static let svixTolerance: Duration = .seconds(300)

    private static let mostSvixSignatures = 16

    /// What Svix sends for a body: one `v1,<base64>`.
    public static func svix(id: String, timestamp: Int64, body: some DataProtocol, secret: SvixSecret) -> String {
        "v1," + Data(Self.svixCode(id, String(timestamp), body, secret)).base64EncodedString()
    }

    /// Checks a webhook that Svix delivered, against every secret in force (several while one is being replaced).
    public static func verifySvix(
        _ headers: SvixHeaders,
        body: some DataProtocol,
        secrets: [SvixSecret],
        now: Date,
        tolerance: Duration = Self.svixTolerance
    ) -> SvixVerdict {
        guard !headers.id.isEmpty, headers.timestamp.utf8.count <= 11, let seconds = Int64(headers.timestamp),
            seconds >= 0
        else { return .malformed }
        let distance = abs(now.millisecondsSince1970 - seconds * 1000)
        let candidates = headers.signature.split(separator: " ").filter { $0.hasPrefix("v1,") }
        guard (1...Self.mostSvixSignatures).contains(candidates.count) else { return .malformed }
        var isSigned = false
        for secret in secrets {
            let expected = Data(Self.svixCode(headers.id, headers.timestamp, body, secret)).base64EncodedString()
            for candidate in candidates {
                isSigned = ConstantTime.equal(String(candidate.dropFirst("v1,".count)), expected) || isSigned
            }
        }
        guard isSigned else { return .wrongSignature }
        return distance <= tolerance.wholeMilliseconds ? .valid : .stale
    }

    private static func svixCode(
        _ id: String,
        _ timestamp: String,
        _ body: some DataProtocol,
        _ secret: SvixSecret
    ) -> [UInt8] {
        var code = HMAC<SHA256>(key: secret.key)
        code.update(data: Array("\(id).\(timestamp).".utf8))
        code.update(data: body)
        return Array(code.finalize())
    }
}
