import Foundation
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
enum SocketState: String {
    case established = "01"
    /// The peer has ended it.
    case closeWait = "08"
}

/// How many sockets this process has open with a port of this machine at the other end.
func sockets(to port: Int, in state: SocketState? = nil) -> Int {
    let digits = String(port, radix: 16, uppercase: true)
    let wanted = ":" + String(repeating: "0", count: 4 - digits.count) + digits
    let files = FileManager.default
    let numbers = (try? files.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    let own = Set(numbers.compactMap { try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") })
    let lines = (try? String(contentsOfFile: "/proc/self/net/tcp", encoding: .utf8)) ?? ""
    return lines.split(separator: "\n").dropFirst().count { line in
        let fields = line.split(separator: " ")
        return fields[2].hasSuffix(wanted) && own.contains("socket:[\(fields[9])]")
            && (state == nil || fields[3] == state?.rawValue ?? "")
    }
}

/// How many threads of this process have a name.
func threads(named name: String) -> Int {
    let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
    return numbers.count { number in
        (try? String(contentsOfFile: "/proc/self/task/\(number)/comm", encoding: .utf8)) == "\(name)\n"
    }
}
