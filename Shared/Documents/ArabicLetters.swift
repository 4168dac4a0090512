/// The forms of Arabic letters, which depend on their neighbours: the library knows nothing of that.
enum ArabicLetters {
    private struct Forms {
        /// Alone; then at the end, and of those that join what follows at the beginning and in the middle.
        let first: UInt32
        let joinsNext: Bool
    }

    private static let forms: [UInt32: Forms] = {
        var table: [UInt32: Forms] = [:]
        // In the order of Unicode's presentation forms, which stand one after the other.
        var first: UInt32 = 0xFE81
        for letter in (UInt32(0x622)...0x63A).map({ $0 }) + (UInt32(0x641)...0x64A).map({ $0 }) {
            let joinsNext = !Self.endings.contains(letter)
            table[letter] = Forms(first: first, joinsNext: joinsNext)
            first += joinsNext ? 4 : 2
        }
        return table
    }()
    /// Letters that join only what is before them.
    private static let endings: Set<UInt32> = [
        0x622, 0x623, 0x624, 0x625, 0x627, 0x629, 0x62F, 0x630, 0x631, 0x632, 0x648, 0x649,
    ]
    private static let lam: UInt32 = 0x644
    /// What lam and an alef are together.
    private static let lamAlef: [UInt32: UInt32] = [0x622: 0xFEF5, 0x623: 0xFEF7, 0x625: 0xFEF9, 0x627: 0xFEFB]

    /// The letters of a text in the forms that they have beside each other, in the order in which they are read.
    static func joined(_ text: String) -> String {
        let scalars = Array(text.unicodeScalars)
        guard scalars.contains(where: { Self.forms[$0.value] != nil }) else { return text }
        var result = String.UnicodeScalarView()
        var isJoined = false
        var index = 0
        while index < scalars.count {
            let scalar = scalars[index]
            index += 1
            guard let forms = Self.forms[scalar.value] else {
                // A vowel sign parts nothing.
                if scalar.properties.generalCategory != .nonspacingMark { isJoined = false }
                result.append(scalar)
                continue
            }
            let next = scalars[index...].first { $0.properties.generalCategory != .nonspacingMark }?.value
            if scalar.value == Self.lam, index < scalars.count, let both = Self.lamAlef[scalars[index].value] {
                result.append(Self.scalar(both + (isJoined ? 1 : 0)))
                isJoined = false
                index += 1
                continue
            }
            let joinsNext = forms.joinsNext && next.map { Self.forms[$0] != nil } == true
            let place: UInt32 = (isJoined ? 1 : 0) + (joinsNext ? 2 : 0)
            result.append(Self.scalar(forms.first + place))
            isJoined = joinsNext
        }
        return String(result)
    }

    private static func scalar(_ value: UInt32) -> Unicode.Scalar { Unicode.Scalar(value) ?? "\u{25A1}" }
}
