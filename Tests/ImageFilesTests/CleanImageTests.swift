import Foundation
import TestSupport
import Testing

@testable import ImageFiles

@Suite("Pictures without metadata")
struct CleanImageTests {
    @Test("the pixels stay, and of all else only colours and a photograph's orientation")
    func cleaned() async throws {
        try await PictureSamples.with { folder in
            let names = try PictureSamples.files(in: folder)
            #expect(names.count > 15)
            try FileManager.default.createDirectory(atPath: "\(folder)/clean", withIntermediateDirectories: false)
            for name in names {
                let clean = try CleanImage(cleaning: try PictureSamples.bytes("\(folder)/\(name)"))
                #expect(clean.width > 0 && name.hasSuffix(clean.kind == .jpeg ? "jpg" : clean.kind.rawValue))
                // What is clean stays as it is.
                #expect(try CleanImage(cleaning: clean.bytes) == clean, "\(name)")
                try Data(clean.bytes).write(to: URL(fileURLWithPath: "\(folder)/clean/\(name)"))
            }
            let report = try await TestPython.run("pictures.py", ["compare", folder])
            #expect(report.split(separator: "\n").map(String.init) == names.map { "\($0): ok" })
        }
    }

    @Test("what moves, what is too large and what is no picture is refused, each by its name")
    func refused() async throws {
        try await PictureSamples.with { folder in
            let wanted: [String: ImageProblem] = [
                "animated.png": .animated, "animated.webp": .animated, "unknown.gif": .unknownKind,
                "unknown.bmp": .unknownKind, "large.png": .tooManyPixels, "large.jpg": .tooManyPixels,
            ]
            #expect(try PictureSamples.files(in: "\(folder)/refused") == wanted.keys.sorted())
            for (name, problem) in wanted {
                let bytes = try PictureSamples.bytes("\(folder)/refused/\(name)")
                #expect(throws: problem, "\(name)") { try CleanImage(cleaning: bytes) }
            }
            let photo = try PictureSamples.bytes("\(folder)/photo.jpg")
            #expect(throws: ImageProblem.tooManyBytes) {
                try CleanImage(cleaning: photo, within: ImageLimits(bytes: photo.count - 1))
            }
        }
        for text in ["", "<svg xmlns='http://www.w3.org/2000/svg'/>", "GIF89a", "RIFF", "\u{7f}ELF", "%PDF-1.7"] {
            #expect(throws: ImageProblem.unknownKind, "\(text)") { try CleanImage(cleaning: Array(text.utf8)) }
        }
    }

    @Test("a file that is cut anywhere is refused")
    func cut() async throws {
        try await PictureSamples.with { folder in
            for name in ["photo.jpg", "progressive.jpg", "drawing.png", "palette.png", "lossy.webp", "alpha.webp"] {
                let whole = try PictureSamples.bytes("\(folder)/\(name)")
                for length in 0..<whole.count {
                    #expect(throws: ImageProblem.self, "\(name) cut at \(length)") {
                        try CleanImage(cleaning: Array(whole.prefix(length)))
                    }
                }
            }
        }
    }

    @Test("a file with any byte changed is refused or cleaned, and cleaning what was cleaned changes nothing")
    func changed() async throws {
        try await PictureSamples.with { folder in
            var (refused, taken) = (0, 0)
            for name in ["photo.jpg", "print.jpg", "drawing.png", "lossless.webp", "lossy.webp"] {
                let whole = try PictureSamples.bytes("\(folder)/\(name)")
                for place in 0..<min(whole.count, 900) {
                    for value in [0xff, whole[place] ^ 0x10] {
                        var changed = whole
                        changed[place] = value
                        guard let clean = try? CleanImage(cleaning: changed) else {
                            refused += 1
                            continue
                        }
                        taken += 1
                        try #require(try CleanImage(cleaning: clean.bytes) == clean, "\(name) at \(place)")
                    }
                }
            }
            #expect(refused > 500 && taken > 500)
        }
    }

    @Test("the checksum is that of PNG")
    func checksum() {
        #expect(CRC32.of("123456789".utf8) == 0xcbf4_3926)
    }
}
