/// An amount in whole kobo (a hundredth of a naira).
///
/// Coded as a bare integer.
public struct Money: Hashable, Sendable {
    /// The amount; may be negative, as in a ledger entry.
    public let kobo: Int64

    /// No money.
    public static let zero = Money(kobo: 0)

    /// Makes an amount.
    public init(kobo: Int64) { self.kobo = kobo }

    /// Whether the amount is over zero.
    public var isPositive: Bool { self.kobo > 0 }

    /// Whether the amount is under zero.
    public var isNegative: Bool { self.kobo < 0 }

    /// The sum.
    ///
    /// - Throws: `MoneyOverflow` when it does not fit, never a wrapped amount.
    public func adding(_ other: Money) throws(MoneyOverflow) -> Money {
        try Self.checked(self.kobo.addingReportingOverflow(other.kobo))
    }

    /// The difference.
    ///
    /// - Throws: `MoneyOverflow` when it does not fit.
    public func subtracting(_ other: Money) throws(MoneyOverflow) -> Money {
        try Self.checked(self.kobo.subtractingReportingOverflow(other.kobo))
    }

    /// The product, as in amount per claim times claims.
    ///
    /// - Throws: `MoneyOverflow` when it does not fit.
    public func multiplied(by count: Int) throws(MoneyOverflow) -> Money {
        try Self.checked(self.kobo.multipliedReportingOverflow(by: Int64(count)))
    }

    /// The amount with the other sign.
    ///
    /// - Throws: `MoneyOverflow` for the smallest `Int64`, which has no opposite.
    public func negated() throws(MoneyOverflow) -> Money { try Money.zero.subtracting(self) }

    private static func checked(
        _ result: (partialValue: Int64, overflow: Bool)
    ) throws(MoneyOverflow) -> Money {
        guard !result.overflow else { throw MoneyOverflow() }
        return Money(kobo: result.partialValue)
    }
}

/// The result of an operation on money does not fit into an `Int64` of kobo.
public struct MoneyOverflow: Error, Equatable, CustomStringConvertible {
    /// Makes the error.
    public init() {}

    /// What happened, without the amounts.
    public var description: String { "amount out of range" }
}

extension Money: Comparable {
    /// Orders by amount.
    public static func < (left: Money, right: Money) -> Bool { left.kobo < right.kobo }
}

extension Money: Codable {
    /// Reads a bare integer of kobo.
    public init(from decoder: any Decoder) throws {
        self.kobo = try decoder.singleValueContainer().decode(Int64.self)
    }

    /// Writes a bare integer of kobo.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(self.kobo)
    }
}

extension Money: CustomStringConvertible {
    /// The amount with its unit, as in `150 kobo`.
    public var description: String { "\(self.kobo) kobo" }

    /// The amount as people read it, as in `₦1,234.50`.
    public var nairaText: String {
        let kobo = self.kobo.magnitude
        let naira = String(kobo / 100)
        var grouped = ""
        for (index, digit) in naira.enumerated() {
            if index > 0 && (naira.count - index).isMultiple(of: 3) { grouped.append(",") }
            grouped.append(digit)
        }
        let rest = kobo % 100
        return "\(self.kobo < 0 ? "-" : "")₦\(grouped).\(rest < 10 ? "0" : "")\(rest)"
    }
}
