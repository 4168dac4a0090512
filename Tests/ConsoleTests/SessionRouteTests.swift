import Cryptography
import EventLoops
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOEmbedded
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import ConsoleService
@testable import ServiceKit

@Suite("Sessions over HTTP")
struct SessionRouteTests {
    private struct Row: Decodable {
        let id: String
        let isThis: Bool

        private enum CodingKeys: String, CodingKey {
            case id
            case isThis = "is_this"
        }
    }

    private struct Collector: ResponseBodyWriter {
        let bytes = Locked<[UInt8]>([])

        func write(_ buffer: ByteBuffer) { self.bytes.withLock { $0 += buffer.readableBytesView } }

        func finish(_: HTTPFields?) {}
    }

    /// The page's routes about sessions, and one that looks.
    private struct Page {
        let signIn: SignIn
        private let router = Router(context: AppRequestContext.self)

        init(_ world: ConsoleWorld) throws {
            let entries = ["ada", "bola"].map { name in
                "\(name):\(Hex.encode(Array(SHA256.hash(data: Array("token of \(name)".utf8)))))"
            }
            self.signIn = SignIn(
                tokens: try OperatorTokens(entries),
                role: nil,
                life: SignIn.Life(whole: .seconds(3600), idle: .seconds(600)),
                database: world.requests,
                clock: world.clock
            )
            let own = self.router.group("/api").add(middleware: SessionMiddleware(signIn: self.signIn))
            SessionController(signIn: self.signIn, isSecure: true).addOwn(to: own)
        }

        func send(
            _ method: HTTPRequest.Method,
            _ path: String,
            _ opened: SignIn.Opened?,
            _ more: [(String, String)] = []
        ) async throws -> (status: HTTPResponse.Status, cookie: String?, body: Data) {
            var head = HTTPRequest(method: method, scheme: nil, authority: nil, path: "/api\(path)")
            if let opened {
                head.headerFields[.cookie] = "transfa_console=\(opened.secret.text)"
                head.headerFields[.consoleGuard] = opened.guardWord
            }
            for (name, value) in more {
                if let name = HTTPField.Name(name) { head.headerFields[name] = value }
            }
            let source = ApplicationRequestContextSource(channel: NIOAsyncTestingChannel(), logger: quiet)
            let request = Request(head: head, body: RequestBody(buffer: ByteBuffer()))
            do {
                let answer = try await self.router.buildResponder()
                    .respond(to: request, context: .init(source: source))
                let collector = Collector()
                try await answer.body.write(collector)
                return (answer.status, answer.headers[.setCookie], Data(collector.bytes.withLock { $0 }))
            } catch let error as APIError {
                return (error.status, nil, Data())
            }
        }

        func rows(_ opened: SignIn.Opened) async throws -> [Row] {
            try JSONDecoder().decode([Row].self, from: try await self.send(.get, "/sessions", opened).body)
        }
    }

    @Test("after signing out the old cookie is 401 for everything, and the browser forgets it")
    func signingOut() async throws {
        try await withConsole { world in
            let page = try Page(world)
            let opened = try await page.signIn.withToken("token of ada")
            #expect(try await page.send(.get, "/session", opened).status == .ok)
            let left = try await page.send(.delete, "/session", opened)
            #expect(left.status == .noContent)
            let cookie = try #require(left.cookie)
            #expect(cookie.hasPrefix("transfa_console=; ") && cookie.contains("Max-Age=0") && cookie.contains("Secure"))
            for (method, path) in [(HTTPRequest.Method.get, "/session"), (.get, "/sessions"), (.delete, "/session")] {
                #expect(try await page.send(method, path, opened).status == .unauthorized, "\(method) \(path)")
            }
        }
    }

    @Test("one sees and ends one's own sessions, and another's is none")
    func ownSessions() async throws {
        try await withConsole { world in
            let page = try Page(world)
            let (here, there) = (
                try await page.signIn.withToken("token of ada"), try await page.signIn.withToken("token of ada")
            )
            let other = try await page.signIn.withToken("token of bola")
            let rows = try await page.rows(here)
            #expect(rows.count == 2)
            #expect(rows.filter(\.isThis).map(\.id) == [here.session.id.lowercased])
            for id in [other.session.id.lowercased, UUID().lowercased] {
                #expect(try await page.send(.delete, "/sessions/\(id)", here).status == .notFound)
            }
            #expect(try await page.send(.delete, "/sessions/\(there.session.id.lowercased)", here).status == .noContent)
            #expect(try await page.send(.get, "/session", there).status == .unauthorized)
            #expect(try await page.send(.get, "/session", other).status == .ok)
            #expect(try await page.send(.delete, "/sessions", here).status == .noContent)
            #expect(try await page.send(.get, "/session", here).status == .unauthorized)
        }
    }

    @Test("the guard word is of one session: that of another, even of the same person, is refused")
    func guardWord() async throws {
        try await withConsole { world in
            let page = try Page(world)
            let (one, two) = (
                try await page.signIn.withToken("token of ada"), try await page.signIn.withToken("token of ada")
            )
            #expect(one.guardWord != two.guardWord)
            let wrong = [("Transfa-Guard", two.guardWord)]
            #expect(try await page.send(.delete, "/session", one, wrong).status == .forbidden)
            #expect(
                try await page.send(.delete, "/session", one, [("Sec-Fetch-Site", "cross-site")]).status == .forbidden
            )
            #expect(try await page.send(.get, "/session", one).status == .ok)
        }
    }

    @Test("a page that nobody touches keeps no session open, whatever it asks")
    func unattended() async throws {
        try await withConsole { world in
            let page = try Page(world)
            let opened = try await page.signIn.withToken("token of ada")
            let quietly = [("Transfa-Unattended", "true")]
            for _ in 0..<4 {
                world.clock.advance(by: .seconds(140))
                #expect(try await page.send(.get, "/session", opened, quietly).status == .ok)
            }
            world.clock.advance(by: .seconds(41))
            #expect(try await page.send(.get, "/session", opened, quietly).status == .unauthorized)
        }
    }
}
