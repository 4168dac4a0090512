/// A Nigerian telephone number in the one form in which it is kept: E.164, `+2348031234567`.
///
/// People write the same number in many ways, and a number that is kept in two of them is two numbers to whoever compares.
public struct PhoneNumber: Sendable, Hashable, CustomStringConvertible {
    /// The ten digits behind the country code.
    private let subscriber: Substring

    /// Reads what a person has written; nil when it is no number of this country, or could be more than one.
    ///
    /// Blanks, hyphens, dots and brackets count for nothing. In front of the ten digits stand `0`, `+234`, `234` or
    /// `00234`, with or without another `0`; a mobile number may do without.
    public init?(_ written: String) {
        guard written.utf8.count <= Self.longest, let (digits, hasPlus) = Self.digits(of: written),
            let subscriber = Self.subscriber(digits, hasPlus: hasPlus),
            // Somebody who wants to give none.
            subscriber.contains(where: { $0 != "0" })
        else { return nil }
        self.subscriber = subscriber
    }

    /// E.164: `+2348031234567`.
    public var description: String { "+234\(self.subscriber)" }

    /// As it is dialled inside of the country: `08031234567`.
    public var national: String { "0\(self.subscriber)" }

    private static let longest = 40

    private static let marks: Set<Unicode.Scalar> = [
        " ", "-", ".", "(", ")", "/", "\u{a0}", "\u{2009}", "\u{202f}", "\u{2010}", "\u{2011}", "\u{2012}", "\u{2013}",
    ]

    private static func digits(of written: String) -> (digits: String, hasPlus: Bool)? {
        var digits = ""
        var hasPlus = false
        for scalar in written.unicodeScalars where !Self.marks.contains(scalar) {
            switch scalar {
            case "0"..."9": digits.unicodeScalars.append(scalar)
            case "+" where digits.isEmpty && !hasPlus: hasPlus = true
            default: return nil
            }
        }
        return (digits, hasPlus)
    }

    private static func subscriber(_ digits: String, hasPlus: Bool) -> Substring? {
        for prefix in hasPlus ? ["2340", "234"] : ["2340", "234", "002340", "00234", "0"] {
            if digits.hasPrefix(prefix), digits.count == prefix.count + 10 { return digits.dropFirst(prefix.count) }
        }
        // What is left out of a mobile number is the 0 alone; other tens of digits may lack more.
        let isMobile = !hasPlus && digits.count == 10 && ["7", "8", "9"].contains(digits.prefix(1))
        return isMobile ? digits[...] : nil
    }
}
