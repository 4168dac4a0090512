/// What comparing names has to know of how people write them.
enum NameTables {
    /// Titles: they say nothing about who it is.
    static let titles: Set<String> = [
        "MR", "MRS", "MISS", "MS", "MASTER", "MADAM", "MALLAM", "MALAM", "DR", "CHIEF", "ALHAJI", "ALHAJA", "ALH",
        "HAJIYA", "HAJIA", "HAJ", "ENGR", "ARC", "BARR", "BARRISTER", "PROF", "PASTOR", "PST", "REV", "REVD", "EVANG",
        "APOSTLE", "BISHOP", "SIR", "LADY", "OTUNBA", "HRH", "HRM", "HON", "SEN", "GEN", "COL", "CAPT", "SGT", "ESQ",
        "JNR", "SNR", "JR", "SR", "PHD", "MNSE", "AND", "OF", "THE",
    ]
    /// Titles that are given names too: they may be the same, and nobody misses them.
    static let namesAndTitles: Set<String> = ["PRINCE", "PRINCESS", "KING", "QUEEN", "MAJOR", "OBA", "BABA"]
    /// Legal forms and what is said of nearly every business.
    static let forms: Set<String> = [
        "LTD", "LIMITED", "PLC", "INC", "LLC", "CO", "COMPANY", "CORP", "GTE", "NIG", "NIGERIA", "ENTERPRISE",
        "ENTERPRISES", "ENT", "BN", "RC", "AND", "OF", "THE",
    ]

    /// Letters that are no letter with a mark, and marks that stand between letters.
    static let letters: [Unicode.Scalar: String] = [
        // Hausa and its neighbours.
        "\u{181}": "B", "\u{253}": "B", "\u{18A}": "D", "\u{257}": "D", "\u{198}": "K", "\u{199}": "K",
        "\u{1B3}": "Y", "\u{1B4}": "Y", "\u{14A}": "NG", "\u{14B}": "NG", "\u{190}": "E", "\u{25B}": "E",
        "\u{186}": "O", "\u{254}": "O", "\u{18F}": "E", "\u{1DD}": "E", "\u{259}": "E",
        // Europe.
        "ß": "SS", "\u{1E9E}": "SS", "Ø": "O", "ø": "O", "Ł": "L", "ł": "L", "Đ": "D", "đ": "D", "Ð": "D", "ð": "D",
        "Æ": "AE", "æ": "AE", "Œ": "OE", "œ": "OE", "Þ": "TH", "þ": "TH", "ı": "I", "Ħ": "H", "ħ": "H",
        // An apostrophe is written or left out, and parts nothing: O'NEILL is ONEILL.
        "'": "", "`": "", "\u{B4}": "", "\u{2018}": "", "\u{2019}": "", "\u{2BB}": "", "\u{2BC}": "", "\u{2BE}": "",
        "\u{2BF}": "",
    ]

    /// Letters that are written as two where there is no such key.
    static let twoLetters: [Unicode.Scalar: String] = [
        "ä": "AE", "Ä": "AE", "ö": "OE", "Ö": "OE", "ü": "UE", "Ü": "UE", "ø": "OE", "Ø": "OE", "å": "AA", "Å": "AA",
    ]

    /// Spellings of one name; names of two people, such as Abdul and Abdullah, are not among them.
    private static let families: [[String]] = [
        [
            "MUHAMMAD", "MUHAMMED", "MUHAMAD", "MUHAMED", "MOHAMMED", "MOHAMMAD", "MOHAMED", "MOHAMAD", "MAHAMMAD",
            "MUHD", "MOHD", "MOHAMMADU", "MUHAMMADU",
        ],
        ["YUSUF", "YUSUFU", "YUSUPH", "YUSSUF", "YOUSUF", "YOUSSEF", "YUSIF"],
        ["ABUBAKAR", "ABUBAKR", "ABUBAKARI", "ABOUBAKAR"],
        ["AISHA", "AISHAT", "AISHATU", "AISHAH", "AYSHA", "AYISHA", "AISHETU"],
        ["FATIMA", "FATIMAH", "FATIMAT", "FATIMATU", "FATIMOH"], ["AMINA", "AMINAT", "AMINATU", "AMINAH"],
        ["ZAINAB", "ZAYNAB", "ZAINABU", "ZEINAB"], ["MARYAM", "MARIAM", "MARYAMU", "MARYAMA", "MERIAM"],
        ["HALIMA", "HALIMAT", "HALIMATU", "HALIMAH"], ["KHADIJA", "KHADIJAH", "KHADIJAT", "KADIJA"],
        ["AHMAD", "AHMED", "AHMADU"], ["IBRAHIM", "IBRAHEEM", "IBRAHIMA"], ["ISA", "ISAH", "ISSA", "EISA"],
        ["USMAN", "OSMAN", "USUMAN", "UTHMAN", "OUSMANE"], ["UMAR", "UMARU", "OMAR", "OUMAR"],
        ["SULEIMAN", "SULEMAN", "SULAIMAN", "SULAYMAN", "SULAIMON", "SULEIMANU"],
        ["ABDULLAHI", "ABDULLAH", "ABDALLAH"],
        ["ABDULAZEEZ", "ABDULAZIZ"], ["ABDULRAHMAN", "ABDURRAHMAN", "ABDULRAHAMAN"], ["ABDULKADIR", "ABDULQADIR"],
        ["YAHAYA", "YAHYA"], ["HARUNA", "HAROUN", "HARUN"], ["IDRIS", "IDREES", "IDRISS"], ["KABIR", "KABIRU"],
        ["BASHIR", "BASHIRU"], ["NASIR", "NASIRU"], ["RASHID", "RASHEED", "RASHIDI"], ["JAMIL", "JAMILU"],
        ["HUSSEIN", "HUSSAIN", "HUSAIN"], ["HASSAN", "HASAN"], ["TIJJANI", "TIJANI"], ["LAWAL", "LAWALI"],
    ]

    /// A spelling, and the first of its family.
    static let spellings: [String: String] = {
        var table: [String: String] = [:]
        for family in Self.families {
            for name in family { table[name] = family[0] }
        }
        return table
    }()
}
