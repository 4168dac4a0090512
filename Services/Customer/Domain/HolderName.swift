import Contracts
import Foundation

/// The name under which a bank keeps an account, next to the name a user was identified by: pure.
///
/// Banks write names in another order, in capitals, without accents, with titles, and cut off.
///
/// So words are compared, and two of a person's are enough: the bank's record may leave a name out, or carry one from before
/// a wedding.
struct HolderName: Hashable, Sendable {
    private let words: [String]

    /// Titles and legal forms: they say nothing about who it is.
    private static let ignored: Set<String> = [
        "MR", "MRS", "MISS", "MS", "DR", "CHIEF", "ALHAJI", "ALHAJA", "ENGR", "PROF", "PASTOR", "LTD", "LIMITED", "PLC",
        "INC", "CO", "COMPANY", "NIG", "NIGERIA", "AND", "OF", "THE",
    ]
    /// A name that a bank has cut off is recognised by so many letters.
    private static let shortestCut = 4
    private static let personWords = 2

    /// Takes a name apart.
    init(_ text: String) {
        let plain = text.folding(options: [.diacriticInsensitive, .caseInsensitive, .widthInsensitive], locale: nil)
        // An apostrophe is written or left out, and parts nothing: O'NEILL is ONEILL.
        let joined = plain.uppercased().filter { $0 != "'" && $0 != "\u{2019}" }
        let words = joined.split { !$0.isLetter && !$0.isNumber }.map(String.init)
        // A single letter is an initial.
        self.words = words.filter { $0.count > 1 && !Self.ignored.contains($0) }
    }

    /// Whether an account with this holder is in the name of the user.
    ///
    /// A business name is not a person of its own: its account may be its owner's.
    func isName(of details: CustomerDetails) -> Bool {
        if let person = details.person { return self.isName(ofPerson: person.fullName) }
        guard let business = details.business else { return false }
        let name = HolderName(business.businessName)
        if !name.words.isEmpty, self.shared(with: name) >= min(Self.personWords, name.words.count) { return true }
        guard business.registrationType == "Business_Name", let owner = business.director else { return false }
        return self.isName(ofPerson: owner.fullName)
    }

    private func isName(ofPerson fullName: String) -> Bool {
        self.shared(with: HolderName(fullName)) >= Self.personWords
    }

    /// How many words of the other name are in this one, each word counted once.
    private func shared(with other: HolderName) -> Int {
        var left = self.words
        var count = 0
        for word in other.words {
            guard let index = left.firstIndex(of: word) ?? left.firstIndex(where: { Self.isCut($0, of: word) })
            else { continue }
            left.remove(at: index)
            count += 1
        }
        return count
    }

    private static func isCut(_ one: String, of other: String) -> Bool {
        min(one.count, other.count) >= Self.shortestCut && (one.hasPrefix(other) || other.hasPrefix(one))
    }
}
