import Contracts
import Cryptography
import Foundation
import Messaging
import Postgres
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import ConsoleService
@testable import ServiceKit

/// Knows two users of an organization, one of them an operator.
private struct Organization: TokenVerifier {
    func verify(_ token: String) async throws(APIError) -> Identity {
        guard token != "forged" else { throw .unauthenticated }
        let role = token == "operator" ? "operator" : "member"
        return Identity(
            userID: UserID(clerkSubject: "user_\(token)"),
            clerkSubject: "user_\(token)",
            sessionID: "sess_1",
            organization: token == "loner" ? nil : Identity.Organization(id: "org_1", role: role)
        )
    }
}

/// Console's sign-in on a database, with operators ada and bola.
private struct SignInWorld {
    let world: ConsoleWorld

    static func entry(_ name: String, _ token: String) -> String {
        "\(name):\(Hex.encode(Array(SHA256.hash(data: Array(token.utf8)))))"
    }

    /// As a replica with these operators makes it.
    func signIn(
        _ entries: [String] = [Self.entry("ada", "one"), Self.entry("bola", "two")],
        role: String = "org:operator"
    ) throws -> SignIn {
        SignIn(
            tokens: try OperatorTokens(entries),
            role: SignIn.Role(verifier: Organization(), organization: .init(id: "org_1", role: role)),
            life: SignIn.Life(whole: .seconds(3600), idle: .seconds(600)),
            database: self.world.requests,
            clock: self.world.clock
        )
    }

    func pass(_ time: Duration) { self.world.clock.advance(by: time) }

    func column(_ name: String) async throws -> [String] {
        try await self.world.database.psql("SELECT \(name) FROM operator_sessions ORDER BY created_at, id")
    }
}

private func withSignIn(_ body: (SignInWorld) async throws -> Void) async throws {
    try await withConsole { try await body(SignInWorld(world: $0)) }
}

@Suite("Signing in to the page")
struct SignInTests {
    private typealias World = SignInWorld

    @Test("a token opens a session in its owner's name, which lasts until its time is over, however busy it is")
    func lifetime() async throws {
        try await withSignIn { world in
            let signIn = try world.signIn()
            let opened = try await signIn.withToken("one")
            #expect(opened.session.name == "ada" && opened.session.way == .token)
            for _ in 0..<7 {
                world.pass(.seconds(500))
                let found = try await signIn.session(in: opened.secret.text)
                #expect(found?.session.id == opened.session.id && found?.guardWord == opened.guardWord)
            }
            world.pass(.seconds(101))
            #expect(try await signIn.session(in: opened.secret.text) == nil)
            await #expect(throws: SignIn.Refusal.wrongToken) { try await signIn.withToken("three") }
            await #expect(throws: SignIn.Refusal.wrongToken) { try await signIn.withToken("") }
        }
    }

    @Test("a session ends when nobody was at the page for so long; a page that looks by itself keeps none open")
    func idle() async throws {
        try await withSignIn { world in
            let signIn = try world.signIn()
            let opened = try await signIn.withToken("one")
            for _ in 0..<5 {
                world.pass(.seconds(119))
                #expect(try await signIn.session(in: opened.secret.text, isAttended: false) != nil)
            }
            world.pass(.seconds(6))
            #expect(try await signIn.session(in: opened.secret.text, isAttended: true) == nil)
            #expect(try await signIn.sessions(of: "ada").isEmpty)
        }
    }

    @Test("whoever signs out is out on every replica, with the same cookie too, and others stay in")
    func signingOut() async throws {
        try await withSignIn { world in
            let (here, there) = (try world.signIn(), try world.signIn())
            let (first, second) = (try await here.withToken("one"), try await here.withToken("one"))
            let other = try await here.withToken("two")
            #expect(try await there.session(in: first.secret.text) != nil)
            #expect(try await here.end(first.session.id, of: "ada", .signedOut))
            #expect(try await there.session(in: first.secret.text) == nil)
            #expect(try await here.session(in: first.secret.text) == nil)
            #expect(try await there.session(in: second.secret.text) != nil)
            // Once is all, and nobody ends another's.
            #expect(try await here.end(first.session.id, of: "ada", .signedOut) == false)
            #expect(try await here.end(other.session.id, of: "ada", .ended) == false)
            #expect(try await there.session(in: other.secret.text) != nil)
            #expect(try await here.sessions(of: "ada").map(\.id) == [second.session.id])
            try await here.endAll(of: "ada")
            #expect(try await there.session(in: second.secret.text) == nil)
            #expect(try await world.column("coalesce(end_reason, '-')") == ["signed_out", "ended", "-"])
        }
    }

    @Test("what nobody was given opens nothing, and neither does what stands in the database")
    func forged() async throws {
        try await withSignIn { world in
            let signIn = try world.signIn()
            let opened = try await signIn.withToken("one")
            let stored = try await world.column("secret_hash")
            #expect(stored == [opened.secret.hash])
            let hash = try #require(Hex.decode(stored[0]))
            // As it was signed once, with a key of the INTERNAL_TOKEN.
            let signed = "token.YWRh.0123456789ab.9999999999.\(String(repeating: "0", count: 64))"
            for text in [
                "", ".", signed, opened.guardWord, stored[0], Base64URL.encode(hash), SessionSecret().text,
                opened.session.id.lowercased, String(opened.secret.text.dropLast()), opened.secret.text + "A",
            ] { #expect(try await signIn.session(in: text) == nil, "\(text)") }
            let row = try await world.world.database.psql("SELECT to_json(s)::text FROM operator_sessions AS s")
            #expect(!row[0].contains(opened.secret.text) && !row[0].contains(opened.guardWord))
            #expect(!"\(opened)".contains(opened.secret.text))
        }
    }

    @Test("a token that is withdrawn ends its sessions for good, and nobody else's")
    func withdrawn() async throws {
        try await withSignIn { world in
            let before = try world.signIn()
            let (ada, bola) = (try await before.withToken("one"), try await before.withToken("two"))
            let after = try world.signIn([World.entry("ada", "new"), World.entry("bola", "two")])
            #expect(try await after.sessions(of: "ada").isEmpty)
            #expect(try await after.session(in: ada.secret.text) == nil)
            #expect(try await after.session(in: bola.secret.text) != nil)
            // With its row: whoever has the token again has to sign in again.
            #expect(try await before.session(in: ada.secret.text) == nil)
            #expect(try await world.column("coalesce(end_reason, '-')") == ["withdrawn", "-"])
        }
    }

    @Test("while a token is being replaced both open sessions of one person, and the old one's end with it")
    func replacedToken() async throws {
        try await withSignIn { world in
            let both = try world.signIn([World.entry("ada", "old"), World.entry("ada", "new")])
            let (old, new) = (try await both.withToken("old"), try await both.withToken("new"))
            #expect(old.session.name == "ada" && new.session.name == "ada")
            #expect(try await both.session(in: old.secret.text) != nil)
            let replaced = try world.signIn([World.entry("ada", "new")])
            #expect(try await replaced.session(in: old.secret.text) == nil)
            #expect(try await replaced.session(in: new.secret.text) != nil)
        }
    }

    @Test("one person has so many sessions and no more: a further one ends the oldest")
    func bounded() async throws {
        try await withSignIn { world in
            let signIn = try world.signIn()
            let other = try await signIn.withToken("two")
            var opened: [SignIn.Opened] = []
            for _ in 0...SignIn.mostSessions {
                world.pass(.milliseconds(10))
                opened.append(try await signIn.withToken("one"))
            }
            #expect(try await signIn.session(in: opened[0].secret.text) == nil)
            for one in opened.dropFirst() + [other] {
                #expect(try await signIn.session(in: one.secret.text) != nil)
            }
            #expect(try await signIn.sessions(of: "ada").count == SignIn.mostSessions)
        }
    }

    @Test("a session of the identity provider opens one with the role in our organization alone")
    func organization() async throws {
        try await withSignIn { world in
            let signIn = try world.signIn()
            let opened = try await signIn.withOrganization("operator")
            #expect(opened.session.name == "user_operator" && opened.session.way == .organization)
            #expect(try await signIn.session(in: opened.secret.text)?.session.name == "user_operator")
            let stricter = try world.signIn(role: "org:admin")
            #expect(try await stricter.session(in: opened.secret.text) == nil)
            await #expect(throws: SignIn.Refusal.noOperator) { try await signIn.withOrganization("member") }
            await #expect(throws: SignIn.Refusal.noOperator) { try await signIn.withOrganization("loner") }
            await #expect(throws: APIError.unauthenticated) { try await signIn.withOrganization("forged") }
        }
    }

    @Test("sessions are forgotten a good while after their time, and requests can delete none")
    func forgotten() async throws {
        try await withSignIn { world in
            _ = try await world.signIn().withToken("one")
            await #expect(throws: (any Error).self) {
                try await world.world.requests.transaction(cause: Cause()) { transaction in
                    _ = try await transaction.query("DELETE FROM operator_sessions")
                }
            }
            let end = world.world.clock.now.addingTimeInterval(3601)
            for (date, left) in [(end.addingTimeInterval(-60), 1), (end.addingTimeInterval(60), 0)] {
                try await world.world.work.transaction(cause: Cause()) {
                    try await SessionStore().forget(before: date, in: $0)
                }
                #expect(try await world.column("id").count == left)
            }
        }
    }

    @Test(
        "a list of operators with a mistake is refused",
        arguments: [
            ["ada"], ["ada:12"], [":" + String(repeating: "a", count: 64)],
            ["ada:" + String(repeating: "g", count: 64)],
            ["ada:" + String(repeating: "a", count: 64), "bola:" + String(repeating: "A", count: 64)],
            ["ada:" + String(repeating: "a", count: 64), "Ada:" + String(repeating: "b", count: 64)],
            ["Ada:" + String(repeating: "a", count: 64)], ["ada!:" + String(repeating: "a", count: 64)],
        ]
    )
    func malformed(_ entries: [String]) {
        #expect(throws: OperatorTokens.Malformed.self) { try OperatorTokens(entries) }
    }

    @Test("the page's filter of events suggests every kind that there is")
    func kinds() throws {
        let folder = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        let file = folder.appendingPathComponent("../../Services/Console/Page/events.js")
        let text = try String(contentsOf: file, encoding: .utf8)
        let missing = EventCatalogue.all.map(\.type.rawValue).filter { !text.contains("\"\($0)\"") }
        #expect(missing == [])
    }

    @Test("nothing but plain parameters gets through a passage, and a passage is one way to one path")
    func passages() throws {
        let jobs = try #require(Passage.all.first { $0.path == "/ops/jobs/:id/cancel" })
        #expect(jobs.filled { _ in "01932f5e-0000-7000-8000-000000000001" }?.hasSuffix("0001/cancel") == true)
        for text in ["", "..", ".", "a/b", "a%2Fb", "a?b", "a#b", "ä", "a b", String(repeating: "a", count: 129)] {
            #expect(jobs.filled { _ in text } == nil, "\(text)")
        }
        let names = Passage.all.map { "\($0.method) \($0.path)" }
        #expect(Set(names).count == names.count)
    }

    @Test("a service that does not take console's token does not end the session of who asked")
    func refusedByService() throws {
        let answer = InternalAnswer(status: 401, body: [])
        let refusal = #expect(throws: APIError.self) { try answer.passedOn(from: .auth) }
        #expect(refusal == .refused(by: .auth) && refusal?.detail?.hasPrefix("auth ") == true)
        #expect(try InternalAnswer(status: 409, body: [1]).passedOn(from: .auth).body == [1])
    }
}
