import Foundation
import TestSupport

/// A collector of OpenTelemetry that is none of ours: Python's HTTP server, which keeps what it is sent, a line each.
struct SpanCollector: Sendable {
    /// A span as it was sent.
    struct SentSpan: Decodable {
        let traceId: String
        let spanId: String
        let parentSpanId: String?
        let name: String
        /// Who sent it.
        var service: String?
    }

    private struct Sent: Decodable {
        struct Resources: Decodable {
            let resource: Resource
            let scopeSpans: [Scope]
        }

        struct Resource: Decodable {
            let attributes: [Attribute]
        }

        struct Attribute: Decodable {
            let key: String
            let value: [String: String]
        }

        struct Scope: Decodable {
            let spans: [SentSpan]
        }

        let resourceSpans: [Resources]
    }

    /// For `OTEL_EXPORTER_OTLP_ENDPOINT`.
    let url: String
    private let path: String

    private static let program = """
        import http.server, sys
        class Taker(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                isTraces = self.path == "/v1/traces" and self.headers["Content-Type"] == "application/json"
                if isTraces:
                    with open(sys.argv[1], "ab") as kept:
                        kept.write(body + b"\\n")
                self.send_response(200 if isTraces else 404)
                self.send_header("Content-Length", "0")
                self.end_headers()
            def log_message(self, *arguments):
                pass
        server = http.server.ThreadingHTTPServer((sys.argv[2], 0), Taker)
        print(server.server_port, flush=True)
        server.serve_forever()
        """

    /// Runs `body` while a collector listens at an address of this machine.
    static func with(address: String, _ body: (SpanCollector) async throws -> Void) async throws {
        let path = "\(Scratch.directory)/spans-\(Scratch.shortName()).jsonl"
        let process = try ChildProcess("/usr/bin/python3", ["-c", Self.program, path, address])
        do {
            let port = try await eventually("the collector to listen") {
                process.log.hasSuffix("\n") ? Int(process.log.dropLast()) : nil
            }
            try await body(SpanCollector(url: "http://\(address):\(port)", path: path))
            await process.terminate()
        } catch {
            await process.terminate()
            throw error
        }
    }

    /// Everything that has come.
    func text() -> String {
        String(decoding: FileManager.default.contents(atPath: self.path) ?? Data(), as: UTF8.self)
    }

    /// The spans of a trace that have come.
    func spans(of trace: Substring) throws -> [SentSpan] {
        // The last line may be half written.
        let lines = self.text().components(separatedBy: "\n").dropLast()
        return try lines.flatMap { line in
            let sent = try JSONDecoder().decode(Sent.self, from: Data(line.utf8))
            return sent.resourceSpans.flatMap { resources in
                let name = resources.resource.attributes.first { $0.key == "service.name" }
                return resources.scopeSpans.flatMap(\.spans).map { span in
                    var span = span
                    span.service = name?.value["stringValue"]
                    return span
                }
            }
        }
        .filter { $0.traceId == trace }
    }
}

extension RunningSuite {
    /// Starts all services again, with `extra` variables, side by side.
    func restart(with extra: [String: String] = [:]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for name in SuiteEnvironment.names {
                group.addTask {
                    await (try self.process(name)).terminate(within: .seconds(15))
                    try await self.start(name, extra: extra)
                }
            }
            try await group.waitForAll()
        }
        try await self.awaitListeners(SuiteEnvironment.names)
    }
}
