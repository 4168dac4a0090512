import Foundation
import Primitives
import Testing

@Suite("Bytes as text")
struct TextFormTests {
    private static let samples: [[UInt8]] =
        [[], [0], [255], Array(0...255)]
        + (1...40).map { count in (0..<count).map { _ in .random(in: 0...255) } }

    @Test("hexadecimal text reads back, in either case")
    func hex() {
        for bytes in Self.samples {
            let text = Hex.encode(bytes)
            #expect(text == bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())
            #expect(Hex.decode(text) == bytes)
            #expect(Hex.decode(text.uppercased()) == bytes)
        }
    }

    @Test("the length of a text is that of its code points, both bounds included")
    func codePoints() {
        let stacked = "e" + String(repeating: "\u{301}", count: 3)
        #expect(stacked.count == 1)
        #expect(stacked.hasCodePoints(1...4) && stacked.hasCodePoints(4...9))
        #expect(!stacked.hasCodePoints(1...3) && !stacked.hasCodePoints(5...9))
        #expect("".hasCodePoints(0...0) && !"".hasCodePoints(1...2))
    }

    @Test("what is not hexadecimal is refused", arguments: ["0", "0g", "0x00", " 00", "００"])
    func notHex(_ text: String) {
        #expect(Hex.decode(text) == nil)
    }

    @Test("base64url reads back and has neither padding nor the other alphabet")
    func base64URL() {
        for bytes in Self.samples {
            let text = Base64URL.encode(bytes)
            #expect(!text.contains { "+/=".contains($0) })
            #expect(Base64URL.decode(text) == bytes)
        }
        #expect(Base64URL.encode([0xfb, 0xff, 0xfe]) == "-__-")
    }

    @Test("a value has one base64url text", arguments: ["AA==", "AB", "A", "+/+/", "AA A", "AA\n", "AAé"])
    func notBase64URL(_ text: String) {
        #expect(Base64URL.decode(text) == nil)
    }
}
