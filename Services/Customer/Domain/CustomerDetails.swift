import Contracts

/// The opened details of a user: in memory, for the time of one call.
struct CustomerDetails: Sendable {
    var person: KYCDetails?
    var business: KYBDetails?
    var contact: ContactDetails?
}

/// The parts of a person's name.
struct NameParts: Hashable, Sendable {
    let first: String
    let middle: String?
    let last: String

    /// Splits a full name: first word, last word, the rest between them.
    ///
    /// Nil for less than two words.
    init?(_ fullName: String) {
        let words = fullName.split(separator: " ").map(String.init)
        guard words.count >= 2, let first = words.first, let last = words.last else { return nil }
        let between = words.dropFirst().dropLast().joined(separator: " ")
        self.first = first
        self.middle = between.isEmpty ? nil : between
        self.last = last
    }
}
