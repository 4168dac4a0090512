/// At which lengths banks cut the names of holders off.
struct NameLengths: Hashable, Sendable {
    private let usual: Set<Int>
    private let banks: [String: Set<Int>]

    /// The same for all banks.
    init(usual: Set<Int>) {
        self.usual = usual
        self.banks = [:]
    }

    /// Reads `20,30,000013:25`: lengths of all banks, and of a bank by its code, for which then no others count.
    ///
    /// - Returns: nil for anything else.
    init?(_ parts: [String]) {
        var usual: Set<Int> = []
        var banks: [String: Set<Int>] = [:]
        for part in parts {
            let pieces = part.split(separator: ":", omittingEmptySubsequences: false)
            guard let last = pieces.last, let length = Int(last), (10...200).contains(length) else { return nil }
            switch pieces.count {
            case 1: usual.insert(length)
            case 2 where pieces[0].utf8.count == 6: banks[String(pieces[0]), default: []].insert(length)
            default: return nil
            }
        }
        self.usual = usual
        self.banks = banks
    }

    /// The lengths of a bank.
    subscript(bank: String) -> Set<Int> { self.banks[bank] ?? self.usual }
}
