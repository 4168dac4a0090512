import EventLoops
import Foundation
import Logging
import OutgoingHTTP
import Testing

@testable import ServiceKit

/// Collects lines.
private final class Lines: Sendable {
    private let lines = Locked<[String]>([])
    var all: [String] { self.lines.withLock { $0 } }

    var sink: LogSink {
        LogSink { bytes in self.lines.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) } }
    }
}

private struct Leaky: Error, CustomStringConvertible {
    let description = "account 0123456789 of ada@example.com"
}

@Suite("logs")
struct LogRedactionTests {
    private func write(_ body: (Logger) -> Void) throws -> StrictJSON {
        let lines = Lines()
        var logger = Logger(label: "test") { JSONLogHandler(label: $0, level: .debug, sink: lines.sink) }
        logger.logLevel = .debug
        body(logger)
        let line = try #require(lines.all.first)
        #expect(line.hasSuffix("\n"))
        return try StrictJSONParser.parse(Array(line.utf8))
    }

    @Test("the broker's management API is described without its password, for services are described when they start")
    func management() throws {
        let url = "http://transfa:a-secret-word@127.0.0.1:15672"
        let management = try #require(RabbitMQManagement(url: url, virtualHost: "/", http: HTTPClient()))
        var shown = "\(management) \(String(reflecting: [management]))"
        dump(management, to: &shown)
        let secrets = ["a-secret-word", Data("transfa:a-secret-word".utf8).base64EncodedString()]
        #expect(secrets.allSatisfy { !shown.contains($0) } && shown.contains("127.0.0.1:15672"))
    }

    @Test("a line is one JSON object with time, level, logger and message")
    func shape() throws {
        let line = try self.write { $0.info("started \"now\"\n") }
        #expect(line["level"]?.string == "info")
        #expect(line["logger"]?.string == "test")
        #expect(line["message"]?.string == "started \"now\"\n")
        #expect(line["time"]?.string?.hasSuffix("Z") == true)
    }

    @Test("metadata is redacted unless its key is known or its value is vouched for")
    func metadata() throws {
        let line = try self.write { logger in
            logger.info(
                "x",
                metadata: [
                    "bvn": "22212345678", "name": "ada", "phone": "+2348012345678", "route": "/wallet",
                    "anything": .safe("fine"),
                ]
            )
        }
        #expect(line["bvn"]?.string == "[redacted]")
        #expect(line["phone"]?.string == "[redacted]")
        #expect(line["route"]?.string == "/wallet")
        #expect(line["anything"]?.string == "fine")
    }

    @Test("what looks like a number of a person or a secret is covered in messages and known keys")
    func scrubbed() throws {
        let line = try self.write { logger in
            logger.info(
                "pay 0123456789 to ada@example.com with eyJhbGciOi.x.y",
                metadata: ["host": "postgres://u:p@host/db"]
            )
        }
        let text = [line["message"]?.string, line["host"]?.string].compactMap { $0 }.joined()
        for leak in ["0123456789", "ada@", "eyJ", "u:p"] {
            #expect(!text.contains(leak))
        }
    }

    @Test("an error of unknown make is named by its type alone")
    func errors() throws {
        #expect(SafeErrorText.describe(Leaky()).hasSuffix("Leaky"))
        #expect(SafeErrorText.describe(APIError.notFound) == "404 not_found")
        let line = try self.write { $0.error("failed", error: Leaky()) }
        #expect(line["error"]?.string?.contains("0123456789") == false)
    }

    @Test("short numbers, ids and times stay readable")
    func harmless() {
        #expect(LogRedaction.scrub("took 123456789 us") == "took 123456789 us")
        #expect(LogRedaction.scrub("2026-11-21T01:07:05.123Z") == "2026-11-21T01:07:05.123Z")
    }
}
