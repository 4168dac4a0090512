public import Foundation
import Primitives

/// What a sealed value belongs to; the same must be given to open it.
///
/// So a sealed value that is copied to another user, field or schema version does not open there.
public struct SealContext: Hashable, Sendable {
    /// The user whose data it is.
    public let user: UUID
    /// The field, as in `beneficiary.account_number`.
    public let field: String
    /// The version of the field's meaning, raised when that changes.
    public let schema: Int

    /// Makes a context.
    public init(user: UUID, field: String, schema: Int = 1) {
        self.user = user
        self.field = field
        self.schema = schema
    }

    /// Parts of fixed length first, so that no two contexts give the same bytes.
    var associated: [UInt8] {
        var bytes = Array("transfa-field-1".utf8) + self.user.bytes
        let schema = UInt64(bitPattern: Int64(self.schema))
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: schema >> UInt64(shift)))
        }
        return bytes + Array(self.field.utf8)
    }
}
