import AsyncHTTPClient
import EventLoops
import Foundation
import NIOCore
import NIOHTTP1
import TestSupport

/// A client of the live stream: what came so far.
final class LiveStream: Sendable {
    /// An event of the stream.
    struct Event: Sendable {
        var id = ""
        var name = ""
        var data = ""
    }

    private struct State {
        var text = ""
        var isOver = false
    }

    private struct Message: Decodable {
        let kind: String
    }

    private let state = Locked(State())

    /// The whole events, in order.
    var events: [Event] {
        let text = self.state.withLock { $0.text }
        return text.components(separatedBy: "\n\n").dropLast().compactMap { part in
            var event = Event()
            for line in part.split(separator: "\n") {
                if line.hasPrefix("id: ") { event.id = String(line.dropFirst(4)) }
                if line.hasPrefix("event: ") { event.name = String(line.dropFirst(7)) }
                if line.hasPrefix("data: ") { event.data = String(line.dropFirst(6)) }
            }
            return event.name.isEmpty ? nil : event
        }
    }

    /// The kinds of the messages, in order.
    var messages: [String] {
        self.events.filter { $0.name == "notification" }.compactMap {
            try? JSONDecoder().decode(Message.self, from: Data($0.data.utf8)).kind
        }
    }

    /// What to resume from.
    var lastID: String { self.events.last { !$0.id.isEmpty }?.id ?? "" }

    /// Whether the server has ended it.
    var isOver: Bool { self.state.withLock { $0.isOver } }

    fileprivate func take(_ buffer: ByteBuffer) { self.state.withLock { $0.text += String(buffer: buffer) } }

    fileprivate func end() { self.state.withLock { $0.isOver = true } }
}

extension RunningSuite {
    /// Listens to a person's live stream while `body` runs.
    func listen(
        as person: Person,
        from lastID: String? = nil,
        _ body: (LiveStream) async throws -> Void
    ) async throws {
        var request = HTTPClientRequest(url: self.environment.publicURL("notification") + "/stream")
        request.headers.add(name: "Authorization", value: "Bearer \(try await self.token(of: person.subject))")
        if let lastID { request.headers.add(name: "Last-Event-ID", value: lastID) }
        let response = try await self.http.execute(request, timeout: .seconds(120))
        guard response.status == .ok, response.headers.first(name: "Content-Type") == "text/event-stream" else {
            throw TestFailure("the stream was answered \(response.status)")
        }
        let stream = LiveStream()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for try await part in response.body { stream.take(part) }
                stream.end()
            }
            try await body(stream)
            group.cancelAll()
        }
    }
}
