import Foundation
import Primitives

/// Checks the fields of one object of a request and gives them back in their stored form.
struct FieldCheck {
    /// Where the object is in the body; empty for the body itself.
    let pointer: String

    func fail(_ name: String, _ rule: FieldRule) -> FieldProblem {
        FieldProblem(pointer: "\(self.pointer)/\(name)", rule: rule)
    }

    /// A text of a person in its kept form.
    func text(
        _ name: String,
        _ value: String,
        _ length: ClosedRange<Int>,
        else rule: FieldRule = .text
    ) throws(FieldProblem) -> String {
        do throws(PersonText.Problem) {
            return try PersonText.checked(value, length)
        } catch {
            throw self.fail(name, rule)
        }
    }

    /// First and last name at least, as the provider wants them.
    func fullName(_ name: String, _ value: String) throws(FieldProblem) -> String {
        let text = try self.text(name, value, 3...100, else: .fullName)
        let words = text.split(separator: " ")
        let isName = text.allSatisfy { $0.isLetter || " .'-\u{2019}".contains($0) }
        guard words.count >= 2, isName, words.allSatisfy({ $0.contains(where: \.isLetter) }) else {
            throw self.fail(name, .fullName)
        }
        return words.joined(separator: " ")
    }

    func elevenDigits(_ name: String, _ value: String) throws(FieldProblem) -> String {
        guard value.utf8.count == 11, value.utf8.allSatisfy(\.isDigit) else { throw self.fail(name, .elevenDigits) }
        return value
    }

    func pastDate(_ name: String, _ value: String, today: CivilDate) throws(FieldProblem) -> CivilDate {
        guard let date = CivilDate(text: value) else { throw self.fail(name, .date) }
        guard date < today, date.year >= Self.firstYear else { throw self.fail(name, .pastDate) }
        return date
    }

    func adult(_ name: String, _ value: String, today: CivilDate) throws(FieldProblem) -> CivilDate {
        let birth = try self.pastDate(name, value, today: today)
        guard birth.adding(months: Self.adultMonths) <= today else { throw self.fail(name, .adult) }
        return birth
    }

    func email(_ name: String, _ value: String) throws(FieldProblem) -> String {
        guard let address = EmailAddress(value) else { throw self.fail(name, .email) }
        return address.description
    }

    func phone(_ name: String, _ value: String) throws(FieldProblem) -> String {
        guard let number = PhoneNumber(value) else { throw self.fail(name, .phone) }
        return number.description
    }

    private static let firstYear = 1900
    private static let adultMonths = 18 * 12
}

extension UInt8 {
    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    var isLetter: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self)
    }

    var isLetterOrDigit: Bool { self.isDigit || self.isLetter }
}
