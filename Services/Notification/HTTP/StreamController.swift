import Contracts
import Foundation
import HTTPTypes
import Hummingbird
import Messaging
import NIOCore
import Primitives
import ServiceKit
import ServiceLifecycle

/// The live stream of the user: server-sent events.
struct StreamController: Sendable {
    let database: EventDatabase
    let inbox: InboxStore
    let access: AccessStore
    let hub: StreamHub
    let clock: any TimeSource

    /// Adds the routes.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.get("/stream") { try await self.get($0, $1) }
        // Opens none: whoever asks so reads no body.
        group.head("/stream") { request, context in
            let identity = try context.requireIdentity()
            _ = try Self.lastEventID(request)
            try await self.access.checkListener(identity.userID, session: identity.sessionID, on: self.database)
            return Response(status: .ok, headers: Self.headers)
        }
    }

    private static let headers: HTTPFields = [.contentType: "text/event-stream", .xAccelBuffering: "no"]

    private func get(_ request: Request, _ context: AppRequestContext) async throws -> Response {
        let identity = try context.requireIdentity()
        let from = try Self.lastEventID(request)
        try await self.access.checkListener(identity.userID, session: identity.sessionID, on: self.database)
        let channel = context.channel
        let lifetime = identity.expiresAt.map { Duration.seconds(max(0, $0.timeIntervalSince(self.clock.now))) }
        let connection = try self.hub.open(identity.userID, session: identity.sessionID, for: lifetime) {
            channel.close(promise: nil)
        }
        let body = StreamBody(database: self.database, inbox: self.inbox, connection: connection, from: from)
        let hub = self.hub
        return Response(
            status: .ok,
            headers: Self.headers,
            body: ResponseBody { writer in
                defer { hub.close(connection) }
                try await body.write(to: &writer)
            }
        )
    }

    /// Digits, as documented.
    private static let longestID = 18

    /// Where the client stopped listening; nil for one that begins.
    private static func lastEventID(_ request: Request) throws(APIError) -> Int64? {
        guard let text = request.headers[.lastEventID] else { return nil }
        guard text.utf8.count <= Self.longestID, let position = Int64(text), position >= 0, String(position) == text
        else {
            throw .invalid(header: "Last-Event-ID", detail: "Use the id of the last event of the stream.")
        }
        return position
    }
}

extension HTTPField.Name {
    fileprivate static let lastEventID = HTTPField.Name("Last-Event-ID") ?? .range
    /// Tells proxies not to hold back what is sent.
    fileprivate static let xAccelBuffering = HTTPField.Name("X-Accel-Buffering") ?? .via
}

/// Writes one stream from a position on, until it is told to end or its reader is gone.
struct StreamBody: Sendable {
    let database: EventDatabase
    let inbox: InboxStore
    let connection: StreamConnection
    let from: Int64?

    /// Messages read at once.
    static let pageSize = 100
    /// A client that missed more than this reads its inbox anew.
    static let backlogLimit: Int64 = 1000
    /// When clients come back, in milliseconds; spread, so that a restart does not call all of them at once.
    static let retry = 500...3000

    @concurrent
    func write(to writer: inout any ResponseBodyWriter) async throws {
        let connection = self.connection
        var output = Output(writer: writer, connection: connection)
        try await withGracefulShutdownHandler {
            try await self.run(&output)
        } onGracefulShutdown: {
            connection.end()
        }
        try await writer.finish(nil)
    }

    @concurrent
    private func run(_ output: inout Output) async throws {
        let user = self.connection.user
        var state = try await self.inbox.state(user, on: self.database)
        var position = min(self.from ?? state.lastPosition, state.lastPosition)
        try await output.send(StreamText.begin(state, at: position, retry: Self.retry.randomElement() ?? 1000))
        if state.lastPosition - position > Self.backlogLimit {
            position = state.lastPosition
            try await output.send(StreamText.reset(state))
        }
        position = try await self.sendNews(after: position, &output)
        while true {
            let tasks = await self.connection.next()
            if tasks.contains(.end) { break }
            if tasks.contains(.heartbeat) { try await output.send(StreamText.heartbeat) }
            guard tasks.contains(.news), let now = self.connection.known else { continue }
            if now.lastPosition > position {
                position = try await self.sendNews(after: position, &output)
            }
            if now.unread != state.unread { try await output.send(StreamText.unread(now)) }
            state = now
        }
        try await output.send(StreamText.end(retry: Self.retry.randomElement() ?? 1000))
    }

    @concurrent
    private func sendNews(after start: Int64, _ output: inout Output) async throws -> Int64 {
        var position = start
        while true {
            let news = try await self.inbox.news(
                self.connection.user,
                after: position,
                limit: Self.pageSize,
                on: self.database
            )
            guard let last = news.last else { return position }
            try await output.send(try news.map { try StreamText.message($0) }.joined())
            position = last.position
            if news.count < Self.pageSize { return position }
        }
    }

    /// What is written, with the reader's time.
    struct Output {
        var writer: any ResponseBodyWriter
        let connection: StreamConnection

        @concurrent
        mutating func send(_ text: String) async throws {
            self.connection.beginWrite()
            try await self.writer.write(ByteBuffer(string: text))
            self.connection.endWrite()
        }
    }
}
