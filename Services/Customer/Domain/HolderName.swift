import Contracts
import Foundation

/// The name under which a bank keeps an account, next to the name a user was identified by: pure.
///
/// Banks write names in another order, in capitals, without accents, with titles, and cut off at a length of their own. A
/// comparison that errs pays somebody's money to somebody else, or keeps it from its owner: what is neither plainly the
/// same nor plainly another name is left to people.
struct HolderName: Hashable, Sendable {
    /// What a comparison comes to.
    enum Match: Int, Comparable, Sendable {
        /// Somebody else's name.
        case different
        /// People look.
        case unclear
        /// The user's name.
        case same

        static func < (one: Match, other: Match) -> Bool { one.rawValue < other.rawValue }
    }

    private let words: [NameWord]

    /// Takes a name apart; a bank that cuts names cuts them at one of these lengths.
    init(_ text: String, cutAt lengths: Set<Int> = []) {
        let written = text.trimmingCharacters(in: .whitespaces)
        let isCut = lengths.contains(written.unicodeScalars.count)
        self.words = NameWord.words(of: written, isCut: isCut)
    }

    /// Whether an account with this holder is in the name of the user.
    ///
    /// A business name is not a person of its own: its account may be its owner's.
    func match(_ details: CustomerDetails) -> Match {
        if let person = details.person { return self.match(person: person.fullName) }
        guard let business = details.business else { return .different }
        let asBusiness = self.match(business: business.businessName)
        guard business.registrationType == "Business_Name", let owner = business.director else { return asBusiness }
        return max(asBusiness, self.match(person: owner.fullName))
    }

    /// Two words of a person's name are enough: the bank's record may leave one out, or carry one more.
    ///
    /// When each of the two has a word that the other lacks, they may be brother and sister.
    private func match(person name: String) -> Match {
        let pairs = NamePairs(held: self.withoutTitles, asked: HolderName(name).withoutTitles)
        let match: Match
        switch pairs.same {
        case 0: match = pairs.near >= 2 ? .unclear : .different
        case 1: match = pairs.near + pairs.initials > 0 ? .unclear : .different
        default: match = pairs.exact > 0 && pairs.near == 0 && !pairs.bothHaveMore ? .same : .unclear
        }
        return pairs.hasUnknownLetters ? max(match, .unclear) : match
    }

    /// The bank may say more than the name of a business, and cut its end off; less would be another business.
    private func match(business name: String) -> Match {
        let pairs = NamePairs(held: self.withoutForms, asked: HolderName(name).withoutForms)
        guard pairs.same > 0 else { return pairs.hasUnknownLetters ? .unclear : .different }
        if pairs.asked.isEmpty, pairs.near + pairs.initials == 0, pairs.held.isEmpty || pairs.same > 1 { return .same }
        if pairs.same > 1 || pairs.near + pairs.initials > 0 || !pairs.bothHaveMore { return .unclear }
        return .different
    }

    private var withoutTitles: [NameWord] { self.words.filter { !NameTables.titles.contains($0.plain) } }
    private var withoutForms: [NameWord] { self.words.filter { !NameTables.forms.contains($0.plain) } }
}

/// Words of two names, put together as far as they go.
private struct NamePairs {
    /// What is left of the bank's words.
    private(set) var held: [NameWord]
    /// What is left of the user's words.
    private(set) var asked: [NameWord]
    /// Words that are the same, letter by letter.
    private(set) var exact = 0
    /// Words that are the same, exact ones, other spellings of one name, and one that the bank cut off.
    private(set) var same = 0
    /// Words that may be the same: one begins the other, or has one letter more, less or another.
    private(set) var near = 0
    /// Initials that stand for a word.
    private(set) var initials = 0
    /// Whether one of the two is written in letters that are not compared.
    let hasUnknownLetters: Bool

    init(held: [NameWord], asked: [NameWord]) {
        self.held = Self.joined(held, as: asked)
        self.asked = Self.joined(asked, as: held)
        self.hasUnknownLetters = (held + asked).contains { !$0.isLatin }
        self.exact = self.take { !$0.isInitial && $0.isWritten(as: $1) }
        self.same =
            self.exact + self.take { !$0.isInitial && $0.spelling == $1.spelling } + self.take { $0.isRest(of: $1) }
        // Beside two whole words a letter tells enough of a third that was cut off.
        let cut = self.same > 1 ? self.take { $0.isCut && $1.plain.hasPrefix($0.plain) } : 0
        self.same += cut
        self.initials = self.take { ($0.isInitial || $1.isInitial) && $0.plain.first == $1.plain.first }
        self.near = self.take { $0.isNear($1) }
    }

    /// Whether each name has a word that the other lacks.
    var bothHaveMore: Bool {
        let (held, asked) = (self.held.filter { !$0.mayBeTitle }, self.asked.filter { !$0.mayBeTitle })
        return !held.isEmpty && !asked.isEmpty
    }

    /// Takes pairs away, each word once, and counts them.
    private mutating func take(_ isPair: (NameWord, NameWord) -> Bool) -> Int {
        var count = 0
        for word in self.asked {
            guard let place = self.held.firstIndex(where: { isPair($0, word) }),
                let own = self.asked.firstIndex(of: word)
            else { continue }
            self.held.remove(at: place)
            self.asked.remove(at: own)
            count += 1
        }
        return count
    }

    /// Two neighbours that the other name writes as one become one.
    private static func joined(_ words: [NameWord], as others: [NameWord]) -> [NameWord] {
        var result: [NameWord] = []
        for word in words {
            guard let last = result.last else {
                result.append(word)
                continue
            }
            let both = last.joined(with: word)
            if others.contains(where: { $0.isWritten(as: both) || $0.spelling == both.spelling }) {
                result[result.count - 1] = both
            } else {
                result.append(word)
            }
        }
        return result
    }
}
