public import Foundation
import Primitives

/// The request header by which a payment is approved: by a device's signature or by a token for a correct PIN.
///
/// ```
/// Transfa-Approval: device id=<uuid>, nonce=<uuid>, ts=<unix seconds>, sig=<base64url r and s>
/// Transfa-Approval: pin <token>
/// ```
public enum ApprovalHeader: Hashable, Sendable {
    /// A signature over the `ApprovalText` of the request.
    case device(DeviceApproval)
    /// A token that `auth` issued; whether it holds is for the verifier of tokens to say.
    case pin(token: String)

    /// The name of the header.
    public static let name = "Transfa-Approval"

    /// No longer value is looked at.
    public static let longestValue = 4096

    /// Reads the header's value: order of the parameters, spaces and the scheme's case do not matter, all else does.
    ///
    /// - Throws: `SealingError` with `malformed`.
    public init(parsing value: String) throws(SealingError) {
        guard value.utf8.count <= Self.longestValue else { throw Self.malformed }
        let trimmed = value.drop { $0 == " " }
        guard let space = trimmed.firstIndex(of: " ") else { throw Self.malformed }
        let rest = trimmed[space...].trimmingCharacters(in: .whitespaces)
        switch trimmed[..<space].lowercased() {
        case "device": self = .device(try DeviceApproval(parameters: rest))
        case "pin":
            guard Self.isToken(rest) else { throw Self.malformed }
            self = .pin(token: rest)
        default: throw Self.malformed
        }
    }

    /// The value to send.
    public var value: String {
        switch self {
        case .device(let approval):
            "device id=\(approval.device.lowercased), nonce=\(approval.nonce.lowercased), ts=\(approval.timestamp), "
                + "sig=\(Base64URL.encode(approval.signature))"
        case .pin(let token): "pin \(token)"
        }
    }

    static let malformed = SealingError(.malformed, "not an approval of the form `device ...` or `pin ...`")

    /// Three parts in the base64url alphabet.
    private static func isToken(_ text: String) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 3
            && parts.allSatisfy { part in
                !part.isEmpty
                    && part.utf8.allSatisfy { unit in
                        unit == UInt8(ascii: "-") || unit == UInt8(ascii: "_")
                            || (unit < 0x80 && Character(Unicode.Scalar(unit)).isLetter)
                            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(unit)
                    }
            }
    }
}

extension ApprovalHeader: CustomStringConvertible {
    /// The scheme alone: a token or signature has no business in a log.
    public var description: String {
        switch self {
        case .device(let approval): "device \(approval.device.lowercased)"
        case .pin: "pin [redacted]"
        }
    }
}

/// The parts of an approval by a device.
public struct DeviceApproval: Hashable, Sendable {
    /// Which of the user's devices.
    public let device: UUID
    /// Makes the approval usable once.
    public let nonce: UUID
    /// When it was signed, in Unix seconds.
    public let timestamp: Int64
    /// `r` and `s`, 32 bytes each.
    public let signature: [UInt8]

    /// Makes an approval.
    public init(device: UUID, nonce: UUID, timestamp: Int64, signature: [UInt8]) {
        self.device = device
        self.nonce = nonce
        self.timestamp = timestamp
        self.signature = signature
    }

    fileprivate init(parameters text: String) throws(SealingError) {
        var values: [Substring: String] = [:]
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let pair = part.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
            guard pair.count == 2 else { throw ApprovalHeader.malformed }
            let value = pair[1].trimmingCharacters(in: .whitespaces)
            guard values.updateValue(value, forKey: pair[0]) == nil else { throw ApprovalHeader.malformed }
        }
        guard values.count == 4, let device = values["id"].flatMap({ UUID(text: $0) }),
            let nonce = values["nonce"].flatMap({ UUID(text: $0) }),
            let seconds = values["ts"], let timestamp = Int64(seconds), String(timestamp) == seconds, timestamp >= 0,
            let signature = values["sig"].flatMap({ Base64URL.decode($0) }),
            signature.count == DeviceSignature.byteCount
        else { throw ApprovalHeader.malformed }
        self.init(device: device, nonce: nonce, timestamp: timestamp, signature: signature)
    }
}
