import Foundation

/// PUT /pin.
public struct PINRequest: Codable, Sendable, Hashable {
    /// 4 to 6 digits.
    public var pin: String
    /// Required when a PIN is set.
    public var currentPin: String?

    /// Puts the values together.
    public init(pin: String, currentPin: String? = nil) {
        self.pin = pin
        self.currentPin = currentPin
    }

    private enum CodingKeys: String, CodingKey {
        case pin
        case currentPin = "current_pin"
    }
}

/// POST /pin/reset.
public struct PINResetRequest: Codable, Sendable, Hashable {
    /// The new PIN, 4 to 6 digits.
    public var pin: String

    /// Puts the values together.
    public init(pin: String) {
        self.pin = pin
    }
}

/// POST /approvals: asks for a token that approves one request.
public struct ApprovalRequest: Codable, Sendable, Hashable {
    /// The PIN.
    public var pin: String
    /// HTTP method of the request to approve.
    public var method: String
    /// Its path, without query.
    public var path: String
    /// SHA-256 of its body, lower-case hex.
    public var bodySha256: String

    /// Puts the values together.
    public init(pin: String, method: String, path: String, bodySha256: String) {
        self.pin = pin
        self.method = method
        self.path = path
        self.bodySha256 = bodySha256
    }

    private enum CodingKeys: String, CodingKey {
        case pin
        case method
        case path
        case bodySha256 = "body_sha256"
    }
}

/// The answer to POST /approvals.
public struct ApprovalResponse: Codable, Sendable, Hashable {
    /// Goes into the `Transfa-Approval` header.
    public var approvalToken: String
    /// Spent by the first decision.
    public var nonce: UUID
    /// RFC 3339, UTC.
    public var expiresAt: String

    /// Puts the values together.
    public init(approvalToken: String, nonce: UUID, expiresAt: String) {
        self.approvalToken = approvalToken
        self.nonce = nonce
        self.expiresAt = expiresAt
    }

    private enum CodingKeys: String, CodingKey {
        case approvalToken = "approval_token"
        case nonce
        case expiresAt = "expires_at"
    }
}

/// POST /devices.
public struct DeviceRequest: Codable, Sendable, Hashable {
    /// What the user calls it.
    public var name: String
    /// P-256 public key, X9.63 uncompressed, base64url.
    public var publicKey: String
    /// The PIN.
    public var pin: String

    /// Puts the values together.
    public init(name: String, publicKey: String, pin: String) {
        self.name = name
        self.publicKey = publicKey
        self.pin = pin
    }

    private enum CodingKeys: String, CodingKey {
        case name
        case publicKey = "public_key"
        case pin
    }
}

/// A device that may approve payments.
public struct DeviceResource: Codable, Sendable, Hashable {
    /// The device.
    public var id: UUID
    /// What the user calls it.
    public var name: String
    /// RFC 3339, UTC.
    public var activatedAt: String
    /// RFC 3339, UTC.
    public var revokedAt: String?

    /// Puts the values together.
    public init(id: UUID, name: String, activatedAt: String, revokedAt: String? = nil) {
        self.id = id
        self.name = name
        self.activatedAt = activatedAt
        self.revokedAt = revokedAt
    }

    private enum CodingKeys: String, CodingKey {
        case id
        case name
        case activatedAt = "activated_at"
        case revokedAt = "revoked_at"
    }
}
