import Foundation

/// Makes what must be unique different on every run.
struct RunNumber: Sendable {
    /// Seven digits.
    let text: String

    init() { self.text = String(Int.random(in: 1_000_000...9_999_999)) }

    /// Eleven digits that no bank gave out; the last one keeps clear of the sandbox's special endings.
    func bvn(_ person: Int) -> String { "22\(person)\(self.text)7" }

    /// Eleven digits in a range without subscribers.
    func phone(_ person: Int) -> String { "000\(self.text)\(person)" }

    /// Ten digits; the last one keeps clear of the sandbox's special endings.
    var accountNumber: String { "00\(self.text)7" }

    /// At a domain that is reserved for examples.
    func email(_ name: String) -> String { "\(name).\(self.text)@example.com" }
}
