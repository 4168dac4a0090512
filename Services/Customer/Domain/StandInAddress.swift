import Primitives

/// The address under which the provider knows whoever has not proven one.
///
/// The provider allows one customer per address: somebody else's, merely written down, would shut its owner out there. This
/// one is of our domain, is nobody else's and gets no mail.
struct StandInAddress: Hashable, Sendable {
    /// In lower case.
    let domain: String

    private static let longest = 200

    /// A domain; nil for what is none.
    init?(domain: String) {
        let text = domain.lowercased()
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        let isDomain =
            labels.count >= 2
            && labels.allSatisfy { label in
                (1...63).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
                    && label.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
            }
        guard isDomain, text.utf8.count <= Self.longest else { return nil }
        self.domain = text
    }

    /// The address of a user, the same whenever it is asked for.
    func callAsFunction(_ user: UserID) -> String { "\(user.description.lowercased())@\(self.domain)" }
}
