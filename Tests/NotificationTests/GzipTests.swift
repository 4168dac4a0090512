import Foundation
import TestSupport
import Testing

@testable import NotificationService

@Suite("Packed bodies")
struct GzipTests {
    /// Packs with the system's gzip.
    private func pack(_ bytes: [UInt8], level: Int) async throws -> [UInt8] {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("transfa-\(UUID()).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(bytes).write(to: file)
        let text = try await Command.run("sh", ["-c", "gzip -\(level) -c '\(file.path)' | base64 -w0"])
        return Array(try #require(Data(base64Encoded: text.trimmingCharacters(in: .whitespacesAndNewlines))))
    }

    @Test("what gzip packs is unpacked byte for byte", arguments: [1, 6, 9], [0, 1, 300, 70_000])
    func roundTrip(level: Int, size: Int) async throws {
        var generator = SystemRandomNumberGenerator()
        let words = ["account", "customer", "{\"id\":", "0123456789", "é"]
        var bytes: [UInt8] = []
        while bytes.count < size { bytes += Array((words.randomElement(using: &generator) ?? "").utf8) }
        // Bytes that cannot be packed make stored blocks.
        bytes += (0..<size / 3).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let packed = try await self.pack(bytes, level: level)
        #expect(Gzip.isGzip(packed))
        #expect(Gzip.unpack(packed, limit: bytes.count) == bytes)
        if size > 0 { #expect(Gzip.unpack(packed, limit: bytes.count - 1) == nil) }
    }

    @Test("bytes that are cut or changed are refused or differ, and never end the process")
    func damage() async throws {
        let bytes = Array(String(repeating: "a webhook of the provider, ", count: 40).utf8)
        let packed = try await self.pack(bytes, level: 9)
        for length in 0..<packed.count { #expect(Gzip.unpack(Array(packed.prefix(length)), limit: 4096) == nil) }
        for place in packed.indices {
            var changed = packed
            changed[place] ^= 1 << UInt8(place % 8)
            _ = Gzip.unpack(changed, limit: 4096)
        }
        #expect(Gzip.unpack(packed + [0], limit: 4096) == nil)
    }
}
