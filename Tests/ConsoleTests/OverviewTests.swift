import Contracts
import Foundation
import Primitives
import ServiceTestSupport
import Testing

@testable import ConsoleService

@Suite("The overview")
struct OverviewTests {
    /// Services that say how they are; the others do not answer.
    private struct MadeUpPorts: InternalPorts {
        let statuses: [ServiceName: String]

        func call(_ service: ServiceName, _ call: InternalCall) async throws -> InternalAnswer {
            guard call.path == "/internal/ops/status", let status = self.statuses[service] else {
                throw ServiceUnreachable(service: service, hasAddress: true)
            }
            return InternalAnswer(status: 200, body: Array(status.utf8))
        }
    }

    private struct Seen: Decodable {
        struct Service: Decodable {
            let service: String
            let status: Status?
        }

        struct Status: Decodable {
            let answered: [String: [String: Int]]
        }

        let services: [Service]
    }

    private func seen(_ statuses: [ServiceName: String], of world: ConsoleWorld) async throws -> Seen {
        let overview = ReadOverview(
            ports: MadeUpPorts(statuses: statuses),
            reads: world.reads,
            clock: world.clock,
            isFollowing: { true },
            queues: { nil }
        )
        return try JSONDecoder().decode(Seen.self, from: Data(try await overview().utf8))
    }

    @Test("it hands on what each service says came twice, and names those that do not answer")
    func answered() async throws {
        try await withConsole { world in
            let requests = #"{"requests":{"first":40,"repeat_redis":6,"waited":2},"webhooks":{"repeat_postgres":1}}"#
            let statuses: [ServiceName: String] = [
                .auth: #"{"answered":\#(requests)}"#, .analytics: #"{"answered":{}}"#,
            ]
            let services = try await self.seen(statuses, of: world).services
            #expect(services.map(\.service) == ServiceName.allCases.map(\.rawValue))
            let told = services.reduce(into: [String: [String: [String: Int]]]()) { told, each in
                told[each.service] = each.status?.answered
            }
            let expected: [String: [String: [String: Int]]] = [
                "auth": [
                    "requests": ["first": 40, "repeat_redis": 6, "waited": 2], "webhooks": ["repeat_postgres": 1],
                ],
                "analytics": [:],
            ]
            #expect(told == expected)
        }
    }
}
