import Foundation
import Primitives

/// A device whose key may approve payments.
struct Device: Sendable {
    let id: UUID
    /// What its user calls it, sealed.
    let sealedName: String
    /// X9.63, uncompressed.
    let publicKey: [UInt8]
    let activatedAt: Date
    let revokedAt: Date?

    /// No user has more active ones.
    static let limit = 10

    /// The field of the seal of a name.
    static let nameField = "device.name"
}
