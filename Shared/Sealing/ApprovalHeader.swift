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
        let trimmed = value.utf8[...].trimmingSpaces()
        guard let space = trimmed.utf8.firstIndex(of: UInt8(ascii: " ")) else { throw Self.malformed }
        let rest = trimmed.utf8[space...].trimmingSpaces()
        switch trimmed[..<space].lowercased() {
        case "device": self = .device(try DeviceApproval(parameters: rest))
        case "pin":
            guard Self.isToken(rest) else { throw Self.malformed }
            self = .pin(token: String(rest))
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
    private static func isToken(_ text: Substring) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 3
            && parts.allSatisfy { part in
                !part.isEmpty
                    && part.allSatisfy { unit in
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

    /// Every payment comes through here, so it walks bytes: finding where characters end costs more than all the rest.
    fileprivate init(parameters text: Substring) throws(SealingError) {
        var values: [Substring: String] = [:]
        for part in text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            let pair = part.split(separator: UInt8(ascii: "="), maxSplits: 1)
            guard pair.count == 2 else { throw ApprovalHeader.malformed }
            let (name, value) = (pair[0].trimmingSpaces(), String(pair[1].trimmingSpaces()))
            guard values.updateValue(value, forKey: name) == nil else { throw ApprovalHeader.malformed }
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

extension Substring.UTF8View {
    fileprivate func trimmingSpaces() -> Substring {
        let space = UInt8(ascii: " ")
        var rest = drop { $0 == space }
        while rest.last == space { rest.removeLast() }
        return Substring(rest)
    }
}
