import Contracts
import EventLoops
import Foundation
import OutgoingHTTP
import Primitives
import Sealing
import TestSupport
import Testing

extension Probes {
    /// Every operation that clients may call, called by everybody, against the table of who may.
    @Suite struct AuthorizationTests {
        @Test("every operation answers everybody as the authorization matrix says")
        func matrix() async throws {
            let suite = try RunningSuite.current
            let operations = try Endpoint.ofClients()
            let table = try AuthorizationTable.read()
            try #require(table.differences(from: operations.map(\.name)) == [])
            let world = try await MatrixWorld.make(suite)
            let sent = try await suite.forbiddenTransfers(world)
            var matrix = AnsweredMatrix()
            for operation in Self.inOrder(operations) {
                for answered in try await world.ask(operation) {
                    matrix.add(answered)
                    let expected = try #require(table.rows[operation.name]?[answered.asker])
                    #expect(answered.problems(expected, world.marks) == [])
                }
            }
            Self.show(matrix)
            #expect(matrix.count == operations.count * Asker.allCases.count)
            try await suite.awaitRefusedCharge(of: world.frozen.person)
            #expect(try await suite.forbiddenTransfers(world) == sent)
            #expect(try await suite.brokenInvariants() == [])
        }

        /// Reading before changing, for a claim shows who made the drop in the claimant's lists; deleting last.
        private static func inOrder(_ operations: [Endpoint]) -> [Endpoint] {
            let rank = { (operation: Endpoint) in ["GET": 0, "DELETE": 2][operation.method] ?? 1 }
            return (0...2).flatMap { place in operations.filter { rank($0) == place } }
        }

        private static func show(_ matrix: AnsweredMatrix) {
            try? FileHandle.standardOutput.write(contentsOf: Data((matrix.text + "\n").utf8))
        }

        @Test("what is for operators is not on the public port, whatever token is sent")
        func operators() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("curious")
            let tokens = [try await suite.token(of: ada.subject), suite.environment.internalToken]
            let hidden = try SuiteEnvironment.names.flatMap { try Endpoint.all(of: $0) }.filter(\.isOnInternalPort)
            #expect(hidden.count > 100)
            for endpoint in hidden {
                for token in tokens {
                    let reply = try await suite.send(
                        endpoint.method,
                        suite.environment.publicURL(endpoint.service) + endpoint.goodPath,
                        headers: ["Authorization": "Bearer \(token)"],
                        body: endpoint.examples.first.map { Array($0.json.utf8) } ?? []
                    )
                    #expect(reply.status == 404, "\(endpoint)")
                    #expect(reply.error?.code == "unknown_route", "\(endpoint) \(reply.text.prefix(200))")
                }
            }
            #expect(try Endpoint.ofClients().filter(\.isOnInternalPort).isEmpty)
        }

        @Test("the internal port answers nobody and no user, and what an operator changes has to be in a name")
        func internalPort() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("inside")
            let session = try await suite.token(of: ada.subject)
            let almost = String(suite.environment.internalToken.dropLast())
            let guarded = try SuiteEnvironment.names.flatMap { try Endpoint.all(of: $0) }.filter {
                $0.isOnInternalPort && $0.access != .open
            }
            #expect(guarded.count > 100)
            for endpoint in guarded {
                for token in [nil, session, almost, ""] {
                    let reply = try await suite.sendInside(endpoint, token, by: RunningSuite.operatorName)
                    #expect(reply.status == 401, "\(endpoint) \(reply.text.prefix(200))")
                    #expect(!reply.text.contains(ada.username) && !reply.text.contains(ada.id.lowercased))
                }
            }
            let named = guarded.filter { $0.has(header: "Transfa-Operator") }
            #expect(named.count > 40)
            for endpoint in named {
                for name in [nil, "", String(repeating: "a", count: 300)] {
                    let reply = try await suite.sendInside(endpoint, suite.environment.internalToken, by: name)
                    let place = reply.error?.source?.header
                    #expect(reply.status == 400 && place == "Transfa-Operator", "\(endpoint) \(reply.text.prefix(200))")
                }
            }
        }
    }
}

extension MatrixWorld {
    /// All answers to one operation: nobody's first and the owner's after the stranger's, so that the owner would notice
    /// what these had done.
    fileprivate func ask(_ operation: Endpoint) async throws -> [AccessCase] {
        var answered: [AccessCase] = []
        for asker in Asker.allCases {
            let call = try self.call(operation, as: asker)
            for (variant, token) in try await self.tokens(asker, call, operation) {
                let reply = try await self.send(call, to: operation, as: asker, token)
                answered.append(
                    AccessCase(
                        operation: operation.name,
                        asker: asker,
                        variant: variant,
                        status: reply.status,
                        code: reply.error?.code,
                        text: reply.text
                    )
                )
            }
        }
        return answered
    }

    /// The tokens that an asker tries: nobody none, an expired one of the owner's, and one for another application.
    private func tokens(
        _ asker: Asker,
        _ call: MatrixCall,
        _ operation: Endpoint
    ) async throws -> [(variant: String, token: String?)] {
        let subject = call.subject ?? self.person(asker).subject
        guard asker == .nobody else { return [("", try await self.suite.token(of: subject))] }
        guard operation.access == .session else { return [("", nil)] }
        let expired = try await self.suite.token(of: subject, more: #","age_seconds":300"#)
        let foreign = try await self.suite.token(of: subject, more: "", azp: "https://other.example")
        return [("", nil), (" (expired)", expired), (" (another application's)", foreign)]
    }

    private func send(
        _ call: MatrixCall,
        to operation: Endpoint,
        as asker: Asker,
        _ token: String?
    ) async throws -> Reply {
        var outgoing = HTTPCall(
            HTTPMethod(rawValue: operation.method),
            self.suite.environment.publicURL(operation.service) + call.path
        )
        if let token { outgoing.headers.append(("Authorization", "Bearer \(token)")) }
        if operation.has(header: "Idempotency-Key") { outgoing.headers.append(("Idempotency-Key", UUID().lowercased)) }
        if operation.has(header: ApprovalHeader.name) {
            let approval = try PaymentOrder.approve(
                call.body,
                by: self.person(asker),
                method: operation.method,
                path: call.path
            )
            outgoing.headers.append((ApprovalHeader.name, approval))
        }
        if !call.body.isEmpty {
            outgoing.headers.append(("Content-Type", call.contentType))
            outgoing.body = call.body
        }
        guard operation.isStream else { return try await self.suite.send(outgoing) }
        // It has no end; who is refused gets a body as anywhere.
        let stream = try await LiveStream(outgoing.url, headers: outgoing.headers)
        let reply = stream.reply
        await stream.stop()
        return reply
    }
}

extension RunningSuite {
    /// The transfers that must not have become more: of the frozen person all, of the merchant those to others; a plan is
    /// no transfer to somebody, and what goes to their own bank neither.
    fileprivate func forbiddenTransfers(_ world: MatrixWorld) async throws -> [String] {
        let sql = """
            SELECT id FROM transfers WHERE type <> 'subscription_charge' AND (sender_id = '\(world.frozen.person.id)'
                OR sender_id = '\(world.merchant.person.id)' AND type <> 'self_transfer') ORDER BY id
            """
        return try await self.rows("transaction", sql)
    }

    /// A good request to the internal port.
    fileprivate func sendInside(_ endpoint: Endpoint, _ token: String?, by name: String?) async throws -> Reply {
        var headers: [String: String] = [:]
        headers["Authorization"] = token.map { "Bearer \($0)" }
        headers["Transfa-Operator"] = name
        return try await self.send(
            endpoint.method,
            self.environment.internalURL(endpoint.service) + endpoint.goodPath,
            headers: headers,
            body: endpoint.examples.first.map { Array($0.json.utf8) } ?? []
        )
    }

    /// Waits until the price of a plan was refused, and was the only thing that could have been taken.
    fileprivate func awaitRefusedCharge(of person: Person) async throws {
        let sql = "SELECT reason FROM subscription_charges WHERE user_id = '\(person.id)'"
        try await eventually("the charge to be refused", within: .seconds(30), every: .milliseconds(100)) {
            try await self.rows("transaction", sql) == ["sender_restricted"]
        }
        let charged =
            "SELECT count(*) FROM transfers WHERE sender_id = '\(person.id)' AND type = 'subscription_charge'"
        guard try await self.number(charged) == 0 else { throw TestFailure("a frozen account was charged") }
    }
}
