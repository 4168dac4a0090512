import Cryptography
import Foundation
import Hummingbird
import Primitives
import Testing

@testable import ServiceKit

private struct NameVerifier: TokenVerifier {
    func verify(_ token: String) async throws(APIError) -> Identity {
        Identity(userID: UserID(clerkSubject: token), clerkSubject: token, sessionID: "session")
    }
}

/// Lists that answer what they were asked for and a cursor.
private func routes(_ router: Router<AppRequestContext>) {
    let group = router.group().add(middleware: AuthenticationMiddleware(verifier: NameVerifier()))
    for path: RouterPath in ["/numbers", "/others"] {
        group.get(path) { request, context in
            let paging = try Paging(request, context)
            let position = try paging.position()
            let next = paging.cursor(after: position == .max ? 41 : position - 1)
            return try APIResponse(json: ["position": "\(position)", "limit": "\(paging.limit)", "next": next])
        }
    }
    group.get("/kept") { request, context in
        let paging = try Paging(request, context)
        let numbers = try paging.numbers(4) ?? []
        let next = paging.cursor(keeping: [.max, -1, .min, 41])
        return try APIResponse(json: ["numbers": numbers.map { "\($0)" }.joined(separator: " "), "next": next])
    }
    group.get("/ids") { request, context in
        let paging = try Paging(request, context, maximum: 100)
        let id = try paging.id()
        return try APIResponse(json: ["id": id.lowercased, "next": paging.cursor(after: id)])
    }
}

private let queries = RouteQueries(
    Dictionary(
        uniqueKeysWithValues: ["numbers", "others", "kept", "ids"].map { ("GET /\($0)", Paging.parameters) }
    )
)

@Suite("pages of lists")
struct PagingTests {
    private func ask(_ path: String, as user: String = "ada", _ running: RunningHost) async throws -> [String: String] {
        let answer = try await running.get(path, headers: ["Authorization": "Bearer \(user)"])
        #expect(answer.status == 200, "\(answer.body)")
        return try JSONDecoder().decode([String: String].self, from: Data(answer.body.utf8))
    }

    private func isRefused(_ path: String, as user: String = "ada", _ running: RunningHost) async throws -> Bool {
        let answer = try await running.get(path, headers: ["Authorization": "Bearer \(user)"])
        return answer.status == 400 && answer.error.code == "invalid_parameter"
            && (answer.body.contains(#""parameter":"cursor""#) || answer.body.contains(#""parameter":"limit""#))
    }

    @Test("a cursor leads to where the page before ended")
    func follow() async throws {
        try await withRunningHost(queries: queries, routes: routes) { running in
            let first = try await self.ask("/numbers", running)
            #expect(first["position"] == "\(Int64.max)")
            #expect(first["limit"] == "20")
            let second = try await self.ask("/numbers?limit=50&cursor=\(first["next"] ?? "")", running)
            #expect(second["position"] == "41")
            let third = try await self.ask("/numbers?cursor=\(second["next"] ?? "")", running)
            #expect(third["position"] == "40")
            let ids = try await self.ask("/ids?limit=100", running)
            #expect(try await self.ask("/ids?cursor=\(ids["next"] ?? "")", running)["id"] == ids["id"])
        }
    }

    @Test("a cursor keeps numbers, and one that keeps fewer is of another list")
    func numbers() async throws {
        try await withRunningHost(queries: queries, routes: routes) { running in
            let first = try await self.ask("/kept", running)
            #expect(first["numbers"]?.isEmpty == true)
            let second = try await self.ask("/kept?cursor=\(first["next"] ?? "")", running)
            #expect(second["numbers"] == "\(Int64.max) -1 \(Int64.min) 41")
            let seal = CursorSeal(SymmetricKey(size: .bits256))
            #expect(seal.place(in: seal.text(of: Array(repeating: 7, count: 32), in: "list"), of: "list")?.count == 32)
        }
    }

    @Test("a cursor with any character changed, cut or added is refused")
    func changed() async throws {
        try await withRunningHost(queries: queries, routes: routes) { running in
            let cursor = try #require(try await self.ask("/numbers", running)["next"])
            var changed = [
                String(cursor.dropLast()), String(cursor.dropFirst()), cursor + "A", cursor + "AAAA", "", "AAAA",
            ]
            for index in cursor.indices {
                let other = cursor[index] == "A" ? "B" : "A"
                changed.append(cursor.replacingCharacters(in: index...index, with: other))
            }
            for text in changed {
                #expect(try await self.isRefused("/numbers?cursor=\(text)", running), "\(text)")
            }
        }
    }

    @Test("a cursor of another list or another person is refused")
    func elsewhere() async throws {
        try await withRunningHost(queries: queries, routes: routes) { running in
            let cursor = try #require(try await self.ask("/numbers", running)["next"])
            let id = try #require(try await self.ask("/ids", running)["next"])
            #expect(try await self.isRefused("/others?cursor=\(cursor)", running))
            #expect(try await self.isRefused("/numbers?cursor=\(cursor)", as: "bola", running))
            #expect(try await self.isRefused("/ids?cursor=\(cursor)", running))
            #expect(try await self.isRefused("/numbers?cursor=\(id)", running))
        }
    }

    @Test("another process of the service takes the cursor, another service does not")
    func processes() async throws {
        let settings = { (service: String) in
            try ServiceSettings(service: service, needs: [], reader: SettingsReader(plainVariables))
        }
        let seal = { (service: String) in CursorSeal(DerivedKeys(try settings(service)).key(for: "cursors")) }
        let text = try seal("one").text(of: [1, 2, 3], in: "list")
        #expect(try seal("one").place(in: text, of: "list") == [1, 2, 3])
        #expect(try seal("two").place(in: text, of: "list") == nil)
    }

    @Test("while the token is being replaced, every replica takes the cursors of every other")
    func replacedToken() throws {
        let seal = { (tokens: String) in
            let variables = plainVariables.merging(["INTERNAL_TOKEN": tokens]) { $1 }
            let settings = try ServiceSettings(service: "one", needs: [], reader: SettingsReader(variables))
            let keys = DerivedKeys(settings).keys(for: "cursors")
            return CursorSeal(keys[0], others: Array(keys.dropFirst()))
        }
        let (old, new) = ("old-token-of-a-test", "new-token-of-a-test")
        let text = try seal(old).text(of: [1, 2, 3], in: "list")
        for tokens in ["\(old),\(new)", "\(new),\(old)"] {
            #expect(try seal(tokens).place(in: text, of: "list") == [1, 2, 3])
            let made = try seal(tokens).text(of: [4], in: "list")
            #expect(try seal("\(old),\(new)").place(in: made, of: "list") == [4])
            #expect(try seal("\(new),\(old)").place(in: made, of: "list") == [4])
        }
        #expect(try seal(new).place(in: text, of: "list") == nil)
    }

    @Test(
        "a limit is a number within its bounds",
        arguments: ["0", "51", "-1", "x", "", "1.5", "+5", "%2B5", "5&limit=6", "99999999999999999999"]
    )
    func limits(text: String) async throws {
        let isRefused = try await withRunningHost(queries: queries, routes: routes) { running in
            try await self.isRefused("/numbers?limit=\(text)", running)
        }
        #expect(isRefused)
    }
}
