import Foundation
import Primitives

/// Our name of a transfer at the provider: `trf-` and the transfer's id.
enum TransferReference {
    private static let prefix = "trf-"

    /// The reference of a transfer.
    static func text(of transaction: UUID) -> String { self.prefix + transaction.lowercased }

    /// The id of the transfer inside a reference of ours; nil for anybody else's.
    static func transaction(in reference: String) -> UUID? {
        guard reference.hasPrefix(Self.prefix) else { return nil }
        return UUID(text: reference.dropFirst(Self.prefix.count))
    }
}
