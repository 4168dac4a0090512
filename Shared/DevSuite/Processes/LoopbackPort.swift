import EventLoops
import Glibc

/// Ports of this machine that nobody outside can reach.
public enum LoopbackPort {
    /// Where ports of suites are looked for that people keep: below the kernel's range for outgoing connections, which
    /// could take a port while a part is down.
    static let kept = 20_000..<32_000
    /// Where ports are looked for that people type.
    static let typed = 8080..<8280

    /// A port in a range that nobody listens at and that `isGiven` does not know.
    public static func free(in range: Range<Int>, isGiven: (Int) -> Bool) throws(SuiteError) -> Int {
        for _ in 0..<500 {
            let port = Int.random(in: range)
            if !isGiven(port), Self.canListen(at: port) { return port }
        }
        throw SuiteError(
            "No free loopback port was found between \(range.lowerBound) and \(range.upperBound)."
        )
    }

    /// The first port in a range that nobody listens at and that `isGiven` does not know.
    static func first(in range: Range<Int>, isGiven: (Int) -> Bool) throws(SuiteError) -> Int {
        guard let port = range.first(where: { !isGiven($0) && Self.canListen(at: $0) }) else {
            throw SuiteError("No port is free between \(range.lowerBound) and \(range.upperBound).")
        }
        return port
    }

    /// Whether somebody accepts connections at it.
    public static func answers(_ port: Int) -> Bool {
        unsafe Self.withSocket(port) { descriptor, address, length in
            unsafe connect(descriptor, address, length) == 0
        }
    }

    /// The status that GET of a path is answered with; nil when nobody answers within two seconds.
    ///
    /// It blocks no thread of Swift's pool, and needs no client of HTTP.
    public static func status(of path: String, at port: Int) async -> Int? {
        await SideThread.run { Self.askStatus(of: path, at: port) }
    }

    private static func askStatus(of path: String, at port: Int) -> Int? {
        var status: Int?
        _ = unsafe Self.withSocket(port) { descriptor, address, length in
            guard unsafe connect(descriptor, address, length) == 0 else { return false }
            let request = Array("GET \(path) HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n".utf8)
            let sent = unsafe request.withUnsafeBytes { bytes in
                unsafe send(descriptor, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
            }
            guard sent == request.count else { return false }
            var line: [UInt8] = []
            var part = [UInt8](repeating: 0, count: 64)
            while line.count < 12 {
                let count = unsafe part.withUnsafeMutableBytes { bytes in
                    unsafe recv(descriptor, bytes.baseAddress, bytes.count, 0)
                }
                guard count > 0 else { return false }
                line += part.prefix(count)
            }
            // HTTP/1.1 200
            status = Int(String(decoding: line[9..<12], as: UTF8.self))
            return true
        }
        return status
    }

    private static func canListen(at port: Int) -> Bool {
        unsafe Self.withSocket(port) { descriptor, address, length in
            unsafe bind(descriptor, address, length) == 0
        }
    }

    private static func withSocket(
        _ port: Int,
        _ body: (CInt, UnsafePointer<sockaddr>, socklen_t) -> Bool
    ) -> Bool {
        guard let number = UInt16(exactly: port) else { return false }
        // A process that is being started at this moment would hold on to the port.
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var patience = timeval(tv_sec: 2, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, size)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = number.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        // Safe: sockaddr_in begins as sockaddr does, and its length is passed along.
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { rebound in
                unsafe body(descriptor, rebound, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
