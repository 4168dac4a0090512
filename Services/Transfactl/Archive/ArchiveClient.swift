import Contracts
import Foundation

/// Calls the archive of console.
struct ArchiveClient: Sendable {
    let caller: Caller

    /// A part of a list.
    struct Page {
        let events: [ShownEvent]
        let nextCursor: String?
    }

    /// Envelopes, one per line.
    struct Lines {
        let text: [UInt8]
        let nextCursor: String
    }

    private struct Body: Decodable {
        let nextCursor: String?

        private enum CodingKeys: String, CodingKey {
            case nextCursor = "next_cursor"
        }
    }

    /// Names and values of a query.
    typealias Parameters = [(String, String)]

    /// A page of a list or of the feed.
    func page(_ path: String, _ parameters: Parameters) async throws(Failure) -> Page {
        let answer = try await self.get(path, parameters)
        let cursor = try answer.decode(Body.self).nextCursor
        guard let object = Self.object(answer.body), let data = object["data"] as? [Any] else {
            throw Failure("\(answer.line) was answered with a body that is no list.")
        }
        return Page(events: data.compactMap(ShownEvent.init), nextCursor: cursor)
    }

    /// A page of the feed as envelopes.
    func lines(_ parameters: Parameters) async throws(Failure) -> Lines {
        let answer = try await self.get("/feed", parameters + [("format", "lines")])
        guard let cursor = answer.nextCursor else { throw Failure("\(answer.line) names no next cursor.") }
        return Lines(text: answer.body, nextCursor: cursor)
    }

    /// The answer to a question; nil for 404.
    func find(_ path: String) async throws(Failure) -> Answer? {
        let answer = try await self.caller.send(.get(.internalPort(.console), "/internal/archive" + path))
        if answer.status == 404, answer.errorCode == "not_found" { return nil }
        return try Self.good(answer)
    }

    /// Stores envelopes.
    func add(_ lines: [UInt8]) async throws(Failure) -> Answer {
        let call = Call(
            destination: .internalPort(.console),
            method: "POST",
            path: "/internal/archive/import",
            body: lines
        )
        return try Self.good(try await self.caller.send(call))
    }

    private func get(_ path: String, _ parameters: Parameters) async throws(Failure) -> Answer {
        var query = URLComponents()
        query.queryItems = parameters.map { URLQueryItem(name: $0.0, value: $0.1) }
        // A plus would be read as a space.
        let text = (query.percentEncodedQuery ?? "").replacing("+", with: "%2B")
        let call = Call.get(.internalPort(.console), "/internal/archive\(path)?\(text)")
        return try Self.good(try await self.caller.send(call))
    }

    private static func good(_ answer: Answer) throws(Failure) -> Answer {
        guard answer.status == 200 else {
            throw Failure("\(answer.line) was answered \(answer.status) \(Excerpt.of(answer.body)).")
        }
        return answer
    }

    static func object(_ bytes: [UInt8]) -> [String: Any]? {
        (try? JSONSerialization.jsonObject(with: Data(bytes))) as? [String: Any]
    }
}
