import Foundation
import Primitives

/// What an order may cost at most, and until when: what its quote said.
struct QuoteTerms: Sendable, Equatable {
    /// Fee and stamp duty in kobo.
    let cost: Int64
    let expiresAt: Date

    /// To the millisecond, in 16 bytes.
    var bytes: [UInt8] {
        [Int64((self.expiresAt.timeIntervalSince1970 * 1000).rounded()), self.cost].flatMap { number in
            (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
        }
    }

    init(cost: Int64, expiresAt: Date) {
        self.cost = cost
        self.expiresAt = expiresAt
    }

    /// Nil for what are not 16 bytes.
    init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        let numbers = [bytes[..<8], bytes[8...]].map { half in
            Int64(bitPattern: half.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
        }
        self.init(cost: numbers[1], expiresAt: Date(timeIntervalSince1970: Double(numbers[0]) / 1000))
    }
}

extension QuoteTerms: Encodable {
    private enum CodingKeys: String, CodingKey {
        case cost
        case expiresAt
    }

    /// As `order_facts()` reads it, with the keys of its encoder's strategy.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.cost, forKey: .cost)
        try container.encode(Timestamp.text(self.expiresAt), forKey: .expiresAt)
    }
}
