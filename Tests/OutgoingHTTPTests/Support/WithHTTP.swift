import Foundation
import Glibc
import OutgoingHTTP
import TestSupport

/// More than any call of a test takes that ends by itself.
let plenty = Duration.seconds(60)

/// Runs `body` with a client.
func withHTTP(
    _ configuration: HTTPClient.Configuration = HTTPClient.Configuration(),
    _ body: (HTTPClient) async throws -> Void
) async throws {
    let http = HTTPClient(configuration)
    let outcome: Result<Void, any Error>
    do { outcome = .success(try await body(http)) } catch { outcome = .failure(error) }
    await http.shutdown()
    try outcome.get()
}

extension HTTPClient.Configuration {
    /// The usual one, changed.
    static func with(_ change: (inout HTTPClient.Configuration) -> Void) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        change(&configuration)
        return configuration
    }
}

extension HTTPClient {
    /// Why there is no answer; nil when there is one.
    func failure(_ call: HTTPCall, within limit: Duration = plenty, patience: Duration = .zero) async -> HTTPFailure? {
        do throws(HTTPFailure) {
            _ = try await self.send(call, within: limit, patience: patience)
            return nil
        } catch {
            return error
        }
    }
}

/// An order that a server must see once.
func order(_ url: String, body: String = #"{"amount":1000}"#) -> HTTPCall {
    HTTPCall(.post, url, headers: [("Content-Type", "application/json")], body: Array(body.utf8))
}

/// A state of a connection, as the kernel numbers it.
enum SocketState: UInt8 {
    case established = 1
    /// The peer has ended it.
    case closeWait = 8
}

/// How many sockets this process has open with a port of this machine at the other end.
///
/// Asked of each socket: the kernel's list of all may leave one out while others come and go.
func sockets(to port: Int, in state: SocketState? = nil) -> Int {
    let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return numbers.compactMap { CInt($0) }.count { socket in
        guard peerPort(of: socket) == port else { return false }
        guard let state else { return true }
        // TCP_INFO, whose first byte is the state.
        var (info, length) = ([UInt8](repeating: 0, count: 256), socklen_t(256))
        return getsockopt(socket, CInt(IPPROTO_TCP), 11, &info, &length) == 0 && info[0] == state.rawValue
    }
}

private func peerPort(of socket: CInt) -> Int? {
    var (address, length) = (sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
    let status = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(socket, $0, &length) }
    }
    return status == 0 && address.sin_family == sa_family_t(AF_INET) ? Int(UInt16(bigEndian: address.sin_port)) : nil
}

/// How many threads of this process have a name.
func threads(named name: String) -> Int {
    let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
    return numbers.count { number in
        (try? String(contentsOfFile: "/proc/self/task/\(number)/comm", encoding: .utf8)) == "\(name)\n"
    }
}
