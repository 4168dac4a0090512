import Primitives
import Testing

@Suite("phone numbers and e-mail addresses")
struct ContactTests {
    @Test(
        "a number has one form, however it is written",
        arguments: [
            "08031234567", "+2348031234567", "2348031234567", "002348031234567", "8031234567", "+234 803 123 4567",
            "0803 123 4567", "0803-123-4567", "+234 (0) 803 123 4567", "234 0803 1234567", "(0803) 123.4567",
            "+234\u{a0}803\u{2011}123\u{202f}4567", " 0803 1234567 ",
        ]
    )
    func phone(written: String) {
        #expect(PhoneNumber(written)?.description == "+2348031234567")
        #expect(PhoneNumber(written)?.national == "08031234567")
    }

    @Test(
        "what is no number here, or could be another one, is none",
        arguments: [
            "", "00000000000", "+2340000000000", "0803123456", "080312345678", "+448031234567", "2348031234",
            "0123456789",
            "08031234567x", "0803123456\u{664}", "++2348031234567", "+2348031234567+", "tel:08031234567",
            "+08031234567",
            "08031234567,08031234568", String(repeating: " ", count: 40) + "08031234567", "0803\u{200b}1234567",
        ]
    )
    func noPhone(written: String) {
        #expect(PhoneNumber(written) == nil)
    }

    @Test("a number that was read is read again as the same")
    func stable() throws {
        for written in ["08031234567", "0001234567"] + ["00012345671"] {
            guard let number = PhoneNumber(written) else { continue }
            #expect(PhoneNumber(number.description) == number && PhoneNumber(number.national) == number)
        }
        // A range without subscribers, which is what tests have.
        #expect(PhoneNumber("00012345671")?.description == "+2340012345671")
    }

    @Test(
        "the host of an address is in lower case, and the rest as it was written",
        arguments: [
            ("ada@example.com", "ada@example.com"), (" Ada.B@Example.COM ", "Ada.B@example.com"),
            ("a+b_c-d'e@sub.ex-ample.ng", "a+b_c-d'e@sub.ex-ample.ng"), ("1@1.co", "1@1.co"),
        ]
    )
    func email(written: String, kept: String) {
        #expect(EmailAddress(written)?.description == kept)
    }

    @Test(
        "what mail cannot be sent to is no address",
        arguments: [
            "", "ada", "ada@", "@example.com", "ada..b@example.com", ".ada@example.com", "ada.@example.com",
            "ada@example",
            "ada@-example.com", "ada@example-.com", "ada@exa_mple.com", "ada@example..com", "ada@127.0.0.1",
            "a@b@example.com",
            "ada b@example.com", "\"ada b\"@example.com", "adä@example.com", "ada@exämple.com", "ada@example.com\n",
            String(repeating: "a", count: 65) + "@example.com", "ada@" + String(repeating: "a", count: 64) + ".com",
            "ada@" + String(repeating: "abcdefghi.", count: 26) + "com",
        ]
    )
    func noEmail(written: String) {
        #expect(EmailAddress(written) == nil)
    }
}
