import Foundation
import OutgoingHTTP
import TestSupport

/// A client of the live stream: what came so far.
final class LiveStream: Sendable {
    /// An event of the stream.
    struct Event: Sendable {
        var id = ""
        var name = ""
        var data = ""
    }

    private struct Message: Decodable {
        let id: UUID
        let kind: String
    }

    private let process: ChildProcess

    /// The status and the headers of the answer, and what came behind them; curl writes both.
    private var answer: (head: String, body: String) {
        let parts = self.process.log.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
        return (String(parts[0]), parts.count < 2 ? "" : String(parts[1]))
    }

    /// The whole events, in order.
    var events: [Event] {
        self.answer.body.components(separatedBy: "\n\n").dropLast().compactMap { part in
            var event = Event()
            for line in part.split(separator: "\n") {
                if line.hasPrefix("id: ") { event.id = String(line.dropFirst(4)) }
                if line.hasPrefix("event: ") { event.name = String(line.dropFirst(7)) }
                if line.hasPrefix("data: ") { event.data = String(line.dropFirst(6)) }
            }
            return event.name.isEmpty ? nil : event
        }
    }

    private var heard: [Message] {
        self.events.filter { $0.name == "notification" }.compactMap {
            try? JSONDecoder().decode(Message.self, from: Data($0.data.utf8))
        }
    }

    /// The kinds of the messages, in order.
    var messages: [String] { self.heard.map(\.kind) }

    /// The ids of the messages, in order.
    var messageIDs: [UUID] { self.heard.map(\.id) }

    /// What to resume from.
    var lastID: String { self.events.last { !$0.id.isEmpty }?.id ?? "" }

    /// Whether the server has ended it.
    var isOver: Bool { !self.process.isRunning }

    /// The answer so far: of a refusal the whole one, of a stream the head.
    var reply: Reply {
        let (head, body) = self.answer
        let lines = head.split(separator: "\r\n")
        let headers = lines.dropFirst().map { line -> HTTPHeader in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (String(parts[0]), parts.count < 2 ? "" : parts[1].trimmingCharacters(in: .whitespaces))
        }
        let status = lines.first.flatMap { $0.split(separator: " ").dropFirst().first }.flatMap { Int($0) } ?? 0
        return Reply(status: status, body: Data(status == 200 ? [] : Array(body.utf8)), headers: headers)
    }

    /// Asks for a stream, and waits for the head of the answer, or all of it if it is a refusal.
    init(_ url: String, headers: [HTTPHeader]) async throws {
        // Headers by a file: they hold a token.
        let file = "\(Scratch.directory)/stream-\(Scratch.shortName())"
        try headers.map { "\($0.name): \($0.value)\n" }.joined().write(toFile: file, atomically: true, encoding: .utf8)
        self.process = try ChildProcess("/usr/bin/curl", ["-sNi", "--noproxy", "*", "-H", "@\(file)", url])
        try await eventually("the head of a stream", within: .seconds(30)) {
            let isWhole = self.process.log.contains("\r\n\r\n")
            return isWhole && (self.reply.status == 200 || !self.process.isRunning)
        }
    }

    /// Listens no longer.
    func stop() async { await self.process.kill() }
}

extension RunningSuite {
    /// Listens to a person's live stream while `body` runs.
    func listen(
        as person: Person,
        from lastID: String? = nil,
        _ body: (LiveStream) async throws -> Void
    ) async throws {
        var headers: [HTTPHeader] = [("Authorization", "Bearer \(try await self.token(of: person.subject))")]
        if let lastID { headers.append(("Last-Event-ID", lastID)) }
        let stream = try await LiveStream(self.environment.publicURL("notification") + "/stream", headers: headers)
        do {
            let reply = stream.reply
            guard reply.status == 200, reply.contentType == "text/event-stream" else {
                throw TestFailure("the stream was answered \(reply.status)")
            }
            try await body(stream)
            await stream.stop()
        } catch {
            await stream.stop()
            throw error
        }
    }
}
