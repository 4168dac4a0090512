import Cryptography
import Foundation
import Primitives

/// Names a bucket: what is counted, and for whom.
struct RateKey: Hashable, Sendable {
    let policy: RatePolicy
    private let high: UInt64
    private let low: UInt64

    init(_ policy: RatePolicy, user: UserID) {
        let bytes = user.uuid.bytes
        self.policy = policy
        self.high = Self.number(bytes.prefix(8))
        self.low = Self.number(bytes.suffix(8))
    }

    /// All addresses that a customer of a network is usually given count as one: /64 in IPv6.
    init(_ policy: RatePolicy, address: ClientAddress) {
        let network = address.network
        self.policy = policy
        self.high = network.high
        self.low = network.low
    }

    private static func number(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The name that other processes see: a keyed hash, for there are too few addresses for a plain one to hide them.
    func name(_ secret: SymmetricKey, service: String) -> String {
        var bytes = Array(self.policy.rawValue.utf8)
        for number in [self.high, self.low] {
            bytes += (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
        }
        let hash = HMAC<SHA256>.authenticationCode(for: bytes, using: secret)
        return "rate:\(service):\(self.policy.rawValue):\(Hex.encode(Array(hash.prefix(16))))"
    }
}
