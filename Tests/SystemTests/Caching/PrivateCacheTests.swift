import Foundation
import TestSupport
import Testing

extension Tools {
    /// That the walk of all answers through one cache notices what is wrong.
    @Suite struct PrivateCacheTests {
        private static func reply(_ body: String, _ headers: [(String, String)], status: Int = 200) -> Reply {
            Reply(status: status, body: Data(body.utf8), headers: headers.map { ($0.0, $0.1) })
        }

        /// Asks for the same address in somebody's name, of a service that answers with the name.
        private static func ask(
            _ cache: inout PrivateCache,
            as asker: String,
            _ headers: [(String, String)],
            accept: String? = nil
        ) async throws -> PrivateCache.Shown {
            var question = PrivateCache.Question(url: "/me", asker: asker)
            question.headers = ["Authorization": "Bearer \(asker)"]
            question.headers["Accept"] = accept
            return try await cache.show(question) { sent in
                let tag = headers.first { $0.0 == "ETag" }?.1
                guard let tag, sent.headers["If-None-Match"]?.contains(tag) == true else {
                    return Self.reply(asker, headers)
                }
                return Self.reply("", headers, status: 304)
            }
        }

        /// What bola is shown after ada, at an address with these headers.
        private static func shownToBola(_ headers: [(String, String)]) async throws -> String {
            var cache = PrivateCache()
            _ = try await Self.ask(&cache, as: "ada", headers)
            return try await Self.ask(&cache, as: "bola", headers).reply.text
        }

        @Test(
            "a shared tag, an age and silence show what was made for another; no-store, an own tag and Vary do not",
            arguments: [
                ([("Cache-Control", "private, max-age=86400"), ("Vary", "Accept")], "ada"),
                ([("Cache-Control", "private, no-cache"), ("ETag", "\"4\"")], "ada"),
                ([], "ada"),
                ([("Cache-Control", "private")], "ada"),
                ([("Expires", "Fri, 01 Jan 2100 00:00:00 GMT")], "ada"),
                ([("Cache-Control", "no-store"), ("ETag", "\"4\"")], "bola"),
                ([("Cache-Control", "private, no-cache")], "bola"),
                ([("Cache-Control", "private, max-age=0")], "bola"),
                ([("Expires", "0")], "bola"),
                ([("Cache-Control", "private, max-age=86400"), ("Vary", "Accept, Authorization")], "bola"),
                ([("Cache-Control", "private, max-age=86400"), ("Vary", "*")], "bola"),
            ] as [([(String, String)], String)]
        )
        func another(headers: [(String, String)], shown: String) async throws {
            #expect(try await Self.shownToBola(headers) == shown)
        }

        @Test("what is kept is good for as long as it says, is kept per form, and lives on when it is told to stand")
        func ages() async throws {
            var cache = PrivateCache()
            let headers = [("Cache-Control", "private, max-age=300"), ("ETag", "\"a\""), ("Vary", "Accept")]
            #expect(try await Self.ask(&cache, as: "ada", headers).way == .asked)
            #expect(try await Self.ask(&cache, as: "ada", headers).way == .unasked)
            cache.now += 301
            let stands = try await Self.ask(&cache, as: "ada", headers)
            #expect(stands.way == .validated && stands.reply.text == "ada" && stands.reply.status == 200)
            #expect(try await Self.ask(&cache, as: "ada", headers).way == .unasked)
            let other = [("Cache-Control", "private, max-age=300"), ("ETag", "\"b\""), ("Vary", "Accept")]
            #expect(try await Self.ask(&cache, as: "ada", other, accept: "image/png").way == .asked)
            #expect(try await Self.ask(&cache, as: "ada", other, accept: "image/png").way == .unasked)
            #expect(try await Self.ask(&cache, as: "ada", headers).way == .unasked)
        }

        @Test("a row that is missing, stale, or lets what is a person's be shown unasked is found")
        func rows() throws {
            let table = try CachingTable(
                markdown: """
                    | operation | `Cache-Control` | validator | `Vary` | depends on |
                    |---|---|---|---|---|
                    | `GET /a` | `private, no-cache` | tag | `Accept` | person |
                    | `GET /b` | `public, max-age=60` | tag | | nobody |
                    """
            )
            #expect(table.differences(from: ["GET /a", "GET /b"]) == [])
            #expect(table.differences(from: ["GET /a", "GET /c"]).count == 2)
            #expect(table.rows["GET /a"]?.vary == ["Accept"] && table.rows["GET /b"]?.vary == [])
            let unasked = try CachingTable(markdown: "| `GET /a` | `private, max-age=9` | tag | | person |")
            #expect(unasked.differences(from: ["GET /a"]).count == 1)
            #expect(throws: (any Error).self) { try CachingTable(markdown: "| `GET /a` | `no-store` | | | ada |") }
            #expect(throws: (any Error).self) { try CachingTable(markdown: "| `GET /a` | `no-store` |") }
        }

        @Test("another header than the row's is found, and a refusal that may be kept")
        func headers() throws {
            let row = CachingRow(control: "private, no-cache", hasTag: true, vary: ["Accept"], subject: .person)
            let good = [("Cache-Control", "private, no-cache"), ("ETag", "\"a\""), ("Vary", "Accept")]
            #expect(row.differences(from: Self.reply("", good)) == [])
            for place in good.indices {
                var headers = good
                headers.remove(at: place)
                #expect(row.differences(from: Self.reply("", headers)).count == 1)
            }
            #expect(row.differences(from: Self.reply("", [("Cache-Control", "no-store")], status: 404)) == [])
            #expect(row.differences(from: Self.reply("", [], status: 404)).count == 1)
        }
    }
}
