import Testing

@testable import AuthService

@Suite("Usernames")
struct UsernameTests {
    @Test(
        "3 to 20 ASCII letters and digits are kept in lower case",
        arguments: [("ada", "ada"), ("Ada1", "ada1"), ("ABCDEFGHIJKLMNOPQRST", "abcdefghijklmnopqrst"), ("123", "123")]
    )
    func accepted(typed: String, stored: String) throws {
        #expect(try Username(typed).text == stored)
    }

    @Test(
        "anything else is refused",
        arguments: [
            "", "ab", "abcdefghijklmnopqrstu", "a b", "a_b", "a-bc", "ada.o", "@ada", "ада", "\u{FF41}da", "adá",
            "ada\u{301}",
            "ada\u{200D}", "ada\0", "ada\n", " ada", "😀😀😀", "１２３",
        ]
    )
    func refused(typed: String) {
        #expect(throws: FieldProblem(pointer: "/username", rule: .username)) { try Username(typed) }
    }

    @Test(
        "reserved names are refused in any case, with digits for letters, and the company's name in any other",
        arguments: [
            "admin", "Transfa", "SUPPORT", "wallet", "adm1n", "4dmin", "AdmIn", "supp0rt", "5upport", "paypaI",
            "PAYPA1", "payrnent", "vvallet", "transfahq", "mytr4nsfa", "iamTRAN5FA", "gtb4nk", "0pay", "h3lp",
        ]
    )
    func reserved(typed: String) {
        #expect(throws: FieldProblem(pointer: "/username", rule: .reservedUsername)) { try Username(typed) }
    }

    @Test(
        "a name that only resembles a reserved one is free",
        arguments: ["adminah", "helper", "opayemi", "banke", "ubah"]
    )
    func resembling(typed: String) throws {
        #expect(try Username(typed).text == typed)
    }

    /// As they were met elsewhere: accounts that passed for a bank, an authority or its staff.
    static let impostors: [String: [String]] = [
        "us": ["transfasupport", "transfa247", "realtransfa", "tran5fahelp", "officialtransfang"],
        "staff": ["supp0rt24", "supportteam", "theadmin", "adminteam", "helpdesk247", "customercare1", "securityteam"],
        "banks": [
            "gtbankcare", "gtbsupport", "ubacare", "realuba", "kudabankhelp", "kudasupport", "opaysupport",
            "opaycareng",
            "accessbankng", "accesssupport", "zenithbank1", "zenithcare", "firstbank24", "fcmbhelp", "moniepointng",
            "palmpaycare", "wemabankonline", "alatsupport", "stanbicibtcng", "flutterwavehq", "paystackhelp",
        ],
        "authorities": [
            "cbnofficial", "officialcbn", "cbnrecovery", "efccng", "efcc0fficial", "theefcc", "nibssalert", "nimcng",
            "policeng", "nigeriapolice", "npfofficial", "ndicrefund", "firsonline", "armyofficial",
        ],
    ]

    @Test("names that pass for banks, authorities and staff are refused", arguments: impostors.values.flatMap(\.self))
    func impostor(typed: String) {
        #expect(throws: FieldProblem(pointer: "/username", rule: .reservedUsername)) { try Username(typed) }
    }

    /// What people are called, or call themselves, though such a word is in it.
    static let people = [
        "ngozi", "ngozichukwu", "nnamdi", "ifeanyi", "chukwuemeka", "oluwaseun", "temitope", "opeyemi", "opayemi",
        "bankole",
        "ubaka", "uba1960", "kudirat", "kuda2", "tajudeen", "taj1", "aisha", "halima", "musa", "fatima", "efemena",
        "efe2001",
        "segun", "adesecun", "sekinat", "carey", "paula", "palmer", "zenitha", "helen", "nigel", "faith", "patience",
        "godswill", "monday", "agatha", "carbonara", "fidelia", "policarp", "armyani", "nccoy", "frscott", "realmadrid",
        "agentofgod", "realngozi", "thengozi", "lagosboy", "naijaboy", "ngpaul", "payola", "dangote", "davido",
        "burnaboy",
        "staffordshire", "adminah", "secka", "rootie", "linus", "legalia", "wemimo", "uche2020", "supo", "teslim",
    ]

    @Test("ordinary names stay free", arguments: people)
    func person(typed: String) throws {
        #expect(try Username(typed).text == typed)
    }

    @Test(
        "names that look alike have one skeleton, others have their own",
        arguments: [
            ("bola", "b0la", true), ("bola", "bo1a", true), ("bola", "boIa", true), ("zara5", "2aras", true),
            ("burna", "buma", true), ("evve", "ewe", true), ("abiola8", "ab1olab", true), ("ada3", "adae", false),
            ("ada4", "adaa", false), ("ada12", "ada13", false), ("tunde", "tunda", false), ("ada6", "ada9", false),
        ]
    )
    func skeletons(one: String, other: String, isAlike: Bool) throws {
        #expect((try Username(one).skeleton == Username(other).skeleton) == isAlike)
    }

    @Test("every reserved name would otherwise be a username")
    func reservedNamesAreUsernames() {
        for name in ReservedNames.all {
            #expect((3...20).contains(name.utf8.count) && name.utf8.allSatisfy(\.isLetterOrDigit), "\(name)")
        }
    }
}
