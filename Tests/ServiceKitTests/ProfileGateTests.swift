import Hummingbird
import OutgoingHTTP
import Primitives
import Testing

@testable import ServiceKit

/// Takes the name of a user for their token.
private struct NameVerifier: TokenVerifier {
    func verify(_ token: String) async throws(APIError) -> Identity {
        Identity(userID: UserID(clerkSubject: token), clerkSubject: token, sessionID: "session")
    }
}

private let states: [UserID: ProfileState] = [
    UserID(clerkSubject: "ada"): .open, UserID(clerkSubject: "closed"): .closed,
]

private func routes(_ router: Router<AppRequestContext>) {
    let gated = ProfileGate.Routes(
        asking: ["GET /people/{name}"],
        free: ["DELETE /phones/{id}"],
        deciding: ["POST /orders", "POST /refusals", "POST /thrown"]
    )
    let group = router.group()
        .add(middleware: AuthenticationMiddleware(verifier: NameVerifier()))
        .add(middleware: ProfileGate(gated) { states[$0] ?? .missing })
    group.get("/papers/:id") { _, _ in APIResponse.noContent }
    group.get("/people/:name") { _, _ in APIResponse.noContent }
    group.put("/settings") { _, _ in APIResponse.noContent }
    group.limited(.secrets).delete("/papers/:id") { _, _ in APIResponse.noContent }
    group.delete("/phones/:id") { _, _ in APIResponse.noContent }
    group.post("/orders") { _, _ in APIResponse.noContent }
    group.post("/refusals") { _, _ in APIResponse(.forbidden) }
    group.post("/thrown") { _, _ -> APIResponse in throw APIError.forbidden("sender_restricted") }
}

@Suite("The gate of closed profiles")
struct ProfileGateTests {
    private static func ask(_ running: RunningHost, _ route: String, as user: String) async throws -> String {
        let parts = route.split(separator: " ").map(String.init)
        let answer = try await running.send(
            .init(rawValue: parts[0]),
            running.publicURL + parts[1],
            headers: ["Authorization": "Bearer \(user)"]
        )
        return "\(answer.status) \(answer.error.code ?? "")"
    }

    @Test(
        "whoever has closed reads, and changes and asks nothing but what is listed; a new route needs no word for that"
    )
    func closed() async throws {
        try await withRunningHost(routes: routes) { running in
            for (route, closed, open, missing) in [
                ("GET /papers/1", "204 ", "204 ", "204 "),
                ("HEAD /papers/1", "204 ", "204 ", "204 "),
                ("GET /people/bola", "403 profile_closed", "204 ", "409 not_onboarded"),
                ("PUT /settings", "403 profile_closed", "204 ", "204 "),
                ("DELETE /papers/1", "403 profile_closed", "204 ", "204 "),
                ("DELETE /phones/1", "204 ", "204 ", "204 "),
            ] {
                let answers = [
                    try await Self.ask(running, route, as: "closed"), try await Self.ask(running, route, as: "ada"),
                    try await Self.ask(running, route, as: "nobody"),
                ]
                #expect(answers == [closed, open, missing], "\(route)")
            }
        }
    }

    @Test("an order that was accepted before has its answer, and one that is refused says what is behind it")
    func orders() async throws {
        try await withRunningHost(routes: routes) { running in
            for (route, user, expected) in [
                ("POST /orders", "closed", "204 "), ("POST /refusals", "closed", "403 profile_closed"),
                ("POST /thrown", "closed", "403 profile_closed"), ("POST /thrown", "ada", "403 sender_restricted"),
                ("POST /refusals", "ada", "403 "),
            ] {
                let answer = try await Self.ask(running, route, as: user)
                #expect(answer == expected, "\(route) \(user)")
            }
        }
    }
}
