import Foundation
import Sealing
import TestSupport
import Testing

@testable import NotificationService

@Suite("Whose webhooks are read")
struct SignedBodyTests {
    private static let token = "aB3dE6gH9j"
    private static let limit = 256 * 1024
    /// The head of a gzip file of no name.
    private static let head: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]

    /// A gzip file whose content stands in one stored block.
    private func stored(_ content: [UInt8]) -> [UInt8] {
        let size = [UInt8(content.count & 0xff), UInt8(content.count >> 8)]
        var bytes = Self.head
        bytes.append(1)
        bytes += size
        bytes += size.map { ~$0 }
        bytes += content
        bytes += [UInt8](repeating: 0, count: 4)
        bytes += size
        bytes += [UInt8](repeating: 0, count: 2)
        return bytes
    }

    /// Blocks that hold nothing, four to five bytes.
    private func empty(_ fours: Int) -> [UInt8] {
        let four: [UInt8] = [0x02, 0x08, 0x20, 0x80, 0x00]
        var bytes = Self.head
        for _ in 0..<fours { bytes += four }
        bytes += [3, 0]
        bytes += [UInt8](repeating: 0, count: 8)
        return bytes
    }

    private func read(_ raw: [UInt8], signed body: [UInt8], _ token: String = Self.token) -> [UInt8]? {
        let header = WebhookSignature.anchor(body: body, token: token)
        return SignedBody.verified(raw, header: header, tokens: [Self.token], limit: Self.limit)
    }

    @Test("a body is read when it is signed as it came, or as it was before it was packed")
    func signed() {
        let body = Array(#"{"data":{}}"#.utf8)
        let packed = self.stored(body)
        #expect(self.read(body, signed: body) == body)
        #expect(self.read(packed, signed: packed) == body)
        #expect(self.read(packed, signed: body) == body)
        #expect(self.read(body, signed: body, "another123") == nil)
        #expect(self.read(packed, signed: body, "another123") == nil)
        #expect(SignedBody.verified(packed, header: "", tokens: [Self.token], limit: Self.limit) == nil)
    }

    @Test("a long packed body of nobody known is not unpacked; one that is signed as it came is")
    func long() {
        let body = [UInt8](repeating: 0x20, count: SignedBody.longestUnsigned)
        let packed = self.stored(body)
        #expect(self.read(packed, signed: body) == nil)
        #expect(self.read(packed, signed: packed) == body)
        let short = Array(body.dropLast(64))
        #expect(self.read(self.stored(short), signed: short) == short)
    }

    @Test("blocks that hold nothing come to an end")
    func emptyBlocks() {
        #expect(Gzip.unpack(self.empty(8), limit: 100) == [])
        #expect(Gzip.unpack(self.empty(Inflater.mostBlocks), limit: 100) == nil)
    }
}
