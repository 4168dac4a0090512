import Testing

@testable import ImageFiles

@Suite("Pictures that cost more to show than to send")
struct ImageCostTests {
    @Test("a JPEG of too many scans, or of too many samples in all of them, is refused")
    func scans() async throws {
        try await PictureSamples.with("costly") { folder in
            for (name, most) in [
                ("scans-880", 140_000), ("scans-20000", 1_000_000), ("scans-17", 100_000), ("scans-101", 25_000),
            ] {
                let bytes = try PictureSamples.bytes("\(folder)/\(name).jpg")
                #expect(bytes.count < most, "\(name)")
                #expect(throws: ImageProblem.tooManyPixels, "\(name)") { try CleanImage(cleaning: bytes) }
            }
            // Each bound by itself: 17 scans of 4960 x 4960 samples, and 101 of few.
            let few = try PictureSamples.bytes("\(folder)/scans-17.jpg")
            let samples = 17 * 4960 * 4960
            #expect(try CleanImage(cleaning: few, within: ImageLimits(samples: samples)).width == 4960)
            #expect(throws: ImageProblem.tooManyPixels) {
                try CleanImage(cleaning: few, within: ImageLimits(samples: samples - 1))
            }
            let small = try PictureSamples.bytes("\(folder)/scans-101.jpg")
            #expect(try CleanImage(cleaning: small, within: ImageLimits(scans: 101)).width == 61)
        }
    }

    @Test("a PNG whose profile or pixels unpack to too much, or are not whole, is refused")
    func packed() async throws {
        try await PictureSamples.with("costly") { folder in
            let broken = [
                "profile", "profiles", "profile-noise", "rows", "noise", "short", "long", "followed", "cut", "checksum",
                "filter",
            ]
            for (name, problem) in broken.map({ ($0, ImageProblem.malformed) }) + [("deep", .tooManyPixels)] {
                let bytes = try PictureSamples.bytes("\(folder)/\(name).png")
                #expect(bytes.count <= ImageLimits().bytes, "\(name)")
                #expect(throws: problem, "\(name)") { try CleanImage(cleaning: bytes) }
            }
            // The bound is that of the rows with their filters.
            let grey = try PictureSamples.bytes("\(folder)/whole.png")
            let rows = 20 * (1 + 20)
            #expect(try CleanImage(cleaning: grey, within: ImageLimits(unpacked: rows)).height == 20)
            #expect(throws: ImageProblem.tooManyPixels) {
                try CleanImage(cleaning: grey, within: ImageLimits(unpacked: rows - 1))
            }
        }
    }

    @Test("a frame counts the samples that its components really have")
    func frame() throws {
        // Colours are sampled half as finely across and down.
        let frame = try JPEGFrame([8, 0, 43, 0, 61, 3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1])
        #expect(frame.width == 61 && frame.height == 43)
        #expect(try frame.samples(inScan: [1, 1, 0, 0, 63, 0]) == 61 * 43)
        #expect(try frame.samples(inScan: [3, 1, 0, 2, 0x11, 3, 0x11, 0, 63, 0]) == 61 * 43 + 2 * 31 * 22)
        for scan: ArraySlice<UInt8> in [
            [], [0, 0, 63, 0], [1, 4, 0, 0, 63, 0], [2, 1, 0, 0, 63, 0], [1, 1, 0, 0, 63],
        ] {
            #expect(throws: ImageProblem.malformed, "\(scan)") { try frame.samples(inScan: scan) }
        }
        for factor: UInt8 in [0x00, 0x10, 0x01, 0x51, 0x15] {
            #expect(throws: ImageProblem.malformed) { try JPEGFrame([8, 0, 43, 0, 61, 1, 1, factor, 0]) }
        }
    }
}
