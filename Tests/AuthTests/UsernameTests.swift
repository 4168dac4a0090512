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

    @Test("reserved names are refused in any case", arguments: ["admin", "Transfa", "SUPPORT", "wallet"])
    func reserved(typed: String) {
        #expect(throws: FieldProblem(pointer: "/username", rule: .reservedUsername)) { try Username(typed) }
    }

    @Test("every reserved name would otherwise be a username")
    func reservedNamesAreUsernames() {
        for name in Username.reserved {
            #expect((3...20).contains(name.utf8.count) && name.utf8.allSatisfy(\.isLetterOrDigit), "\(name)")
        }
    }
}
