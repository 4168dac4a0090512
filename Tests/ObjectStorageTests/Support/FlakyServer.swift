import EventLoops
import Foundation
import Glibc
import TestSupport

/// An HTTP server that answers 503 so many times, then 204; a connection per request.
final class FlakyServer: Sendable {
    let port: Int
    private let listener: OwnedSocket
    private let counted = Locked(0)

    init(failures: Int) throws {
        self.port = try freePort()
        self.listener = OwnedSocket(socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(self.port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(self.listener.number, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isBound, listen(self.listener.number, 16) == 0 else { throw TestFailure("cannot listen on \(self.port)") }
        SideThread.start { [self] in self.serve(failures) }
    }

    /// How many requests came.
    var requests: Int { self.counted.withLock { $0 } }

    func stop() { self.listener.end() }

    private func serve(_ failures: Int) {
        while true {
            let connection = accept(self.listener.number, nil, nil)
            guard connection >= 0 else { return }
            var bytes = [UInt8](repeating: 0, count: 8192)
            _ = read(connection, &bytes, bytes.count)
            let number = self.counted.withLock { count in
                count += 1
                return count
            }
            let status = number <= failures ? "503 Busy" : "204 No Content"
            let answer = Array("HTTP/1.1 \(status)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8)
            _ = write(connection, answer, answer.count)
            close(connection)
        }
    }
}
