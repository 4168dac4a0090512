import Foundation
import Sealing
import ServiceKit

/// Keyed hashes of addresses and numbers, however they were written.
///
/// Hashes of addresses differ from those of numbers, so both stand in one list.
enum VerifiedMarks {
    /// Of an e-mail address.
    static func email(_ text: String, _ index: BlindIndex) -> String {
        index.index("contact.email", text.trimmingCharacters(in: .whitespaces).lowercased())
    }

    /// Of a phone number: `+234 803 123 4567`, `2348031234567` and `08031234567` are one.
    static func phone(_ text: String, _ index: BlindIndex) -> String {
        index.index("contact.phone", Self.national(text))
    }

    /// Of all that a token says; sorted, so that equal sets are equal lists.
    static func all(of contact: VerifiedContact, _ index: BlindIndex) -> [String] {
        Self.all(emails: [contact.email].compactMap(\.self), phones: [contact.phone].compactMap(\.self), index)
    }

    /// Of several, each once.
    static func all(emails: [String], phones: [String], _ index: BlindIndex) -> [String] {
        let marks = emails.map { Self.email($0, index) } + phones.map { Self.phone($0, index) }
        return Set(marks).sorted()
    }

    /// As people in Nigeria write it, where it is one of theirs; digits alone.
    static func national(_ text: String) -> String {
        let digits = String(text.filter { $0.isASCII && $0.isNumber })
        guard digits.hasPrefix(Self.country), digits.count == Self.country.count + Self.length else { return digits }
        return "0" + digits.dropFirst(Self.country.count)
    }

    private static let country = "234"
    /// Digits behind the country's code.
    private static let length = 10
}
