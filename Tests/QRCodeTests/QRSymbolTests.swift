import Foundation
import TestSupport
import Testing

@testable import QRCode

@Suite("QR codes")
struct QRSymbolTests {
    private static let texts = [
        "https://transfa.app/u/ada", "https://transfa.app/r/01932f5e-0000-4000-8000-000000000001", "x",
        String(repeating: "Long text. ", count: 93), "naïve ☕",
    ]

    @Test("a reader reads from the PNG file what was encoded, at any size of the modules", arguments: texts)
    func png(text: String) async throws {
        let code = try QRSymbol(text)
        for scale in [3, 8] {
            let file = "\(Scratch.directory)/\(Scratch.shortName()).png"
            try Data(try code.png(scale: scale)).write(to: URL(fileURLWithPath: file))
            #expect(try await TestPython.run("read_qr.py", [file]) == text + "\n")
        }
    }

    @Test("the SVG file has the same dark modules, inside the same quiet zone", arguments: texts)
    func svg(text: String) throws {
        let code = try QRSymbol(text)
        let whole = code.side + 2 * QRSymbol.quietZone
        let svg = code.svg()
        #expect(svg.contains("viewBox=\"0 0 \(whole) \(whole)\""))
        let path = try #require(svg.components(separatedBy: "fill=\"#000\" d=\"").last?.prefix { $0 != "\"" })
        var dark = Set<[Int]>()
        for run in path.split(separator: "M") {
            let numbers = run.split(whereSeparator: { !$0.isNumber }).compactMap { Int($0) }
            // M<column> <row>h<length>v1h-<length>z
            try #require(numbers.count == 5 && numbers[2] == numbers[4] && numbers[3] == 1, "\(run)")
            for column in numbers[0]..<(numbers[0] + numbers[2]) { dark.insert([numbers[1], column]) }
        }
        let wanted = (0..<whole).flatMap { row in (0..<whole).map { [row, $0] } }.filter {
            code.isDark(row: $0[0] - QRSymbol.quietZone, column: $0[1] - QRSymbol.quietZone)
        }
        #expect(dark == Set(wanted) && !dark.isEmpty)
        #expect(dark.allSatisfy { place in place.allSatisfy { (4..<(whole - 4)).contains($0) } })
    }

    @Test("a text that is empty, too long or has a NUL is refused")
    func unsuitable() {
        for text in ["", String(repeating: "a", count: 1025), "a\u{0}b"] {
            #expect(throws: QRCodeError.unsuitableText) { try QRSymbol(text) }
        }
        #expect(throws: Never.self) { try QRSymbol(String(repeating: "é", count: 512)) }
    }
}
