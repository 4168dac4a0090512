import Foundation
import TestSupport

/// A connection on which a test says what it likes, and reads when it likes.
struct RawConnection: Sendable {
    private let end: OwnedSocket

    /// Connects to a port of this machine.
    init(to port: Int) throws {
        let end = OwnedSocket(socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        address.sin_port = UInt16(port).bigEndian
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(end.number, $0, length) }
        }
        guard status == 0 else { throw TestFailure("no connection to port \(port): errno \(errno)") }
        self.end = end
    }

    /// Sends text; nobody may be there to hear it.
    func say(_ text: String) {
        let bytes = Array(text.utf8)
        _ = send(self.end.number, bytes, bytes.count, CInt(MSG_NOSIGNAL))
    }

    /// How many bytes came at once, at most so many; nil when nothing is there yet, 0 when the other side has ended.
    func read(_ limit: Int = 64 * 1024) -> Int? { self.readBytes(limit)?.count }

    /// The bytes that came at once, at most so many; nil when nothing is there yet, none when the other side has ended.
    func readBytes(_ limit: Int = 64 * 1024) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = recv(self.end.number, &bytes, limit, CInt(MSG_DONTWAIT))
        if count < 0, errno == EAGAIN || errno == EINTR { return nil }
        return Array(bytes.prefix(max(count, 0)))
    }

    /// Reads whatever is there until the other side ends; how much it was.
    func readToEnd() async throws -> Int {
        var total = 0
        try await eventually("the end of the connection", within: .seconds(30)) {
            while let count = self.read() {
                if count == 0 { return true }
                total += count
            }
            return false
        }
        return total
    }
}
