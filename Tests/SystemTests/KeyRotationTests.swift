import Contracts
import Foundation
import TestSupport
import Testing

extension ServiceFaults {
    /// All services in processes of their own, whose keys and tokens are replaced as deploy/runbooks/KeyRotation.md says.
    @Suite(.serialized, .runningSuite(.only(SuiteEnvironment.names)))
    struct KeyRotationTests {
        private static let withReplicas = ["auth", "transaction", "notification", "console"]

        @Test(
            "keys and tokens are replaced step by step, and what comes to either of two replicas a step apart is taken"
        )
        func steps() async throws {
            let suite = try RunningSuite.current
            let rotation = try await Rotation(on: suite)
            let issued = try await suite.token(of: rotation.payer.subject, more: #","lifetime_seconds":3600"#)
            for step in Rotation.Step.allCases {
                try await rotation.prepare(step)
                for name in SuiteEnvironment.names {
                    let variables = rotation.variables(step)
                    if Self.withReplicas.contains(name) {
                        let refusals = try await suite.withReplica(of: name, extra: variables) { replica in
                            try await rotation.refusals(of: name, beside: replica, at: step)
                        }
                        #expect(refusals == [])
                    }
                    _ = try await suite.process(name).terminate()
                    try await suite.start(name, extra: variables)
                }
            }
            try await eventually("all transfers to end", within: .seconds(60), every: .milliseconds(200)) {
                try await suite.openTransfers(of: rotation.payer) == 0
            }
            try await self.checkOldOnesAreRefused(suite, rotation, issued: issued)
        }

        private struct Use: Decodable {
            let refused: Int
        }

        private struct History: Decodable {
            struct Transfer: Decodable {
                let description: String?
            }

            let data: [Transfer]
        }

        private func checkOldOnesAreRefused(_ suite: RunningSuite, _ rotation: Rotation, issued: String) async throws {
            for name in SuiteEnvironment.names {
                #expect(try await suite.operate("GET", name, "/internal/ops/clock").status == 401, "\(name)")
            }
            let webhooks = [
                try await rotation.webhook(to: suite.environment.publicURL("notification"), at: .oldThenNew),
                try await rotation.clerkMessage(to: suite.environment.publicURL("auth"), at: .oldThenNew),
            ]
            #expect(webhooks.map(\.status) == [401, 401])
            let wallet = suite.environment.publicURL("transaction") + "/wallet"
            #expect(try await suite.send("GET", wallet, headers: ["Authorization": "Bearer \(issued)"]).status == 401)
            // Sealed with a data key that the old master key had wrapped.
            let list = try await suite.call("GET", .transaction, "/transactions?limit=50", as: rotation.payer.subject)
            let texts = try list.decode(History.self).data.compactMap(\.description)
            #expect(!texts.isEmpty && !texts.contains("[erased]"))
            #expect(try await suite.sandbox("GET", "/sandbox/anchor/keys").decode(Use.self).refused == 0)
        }
    }
}
