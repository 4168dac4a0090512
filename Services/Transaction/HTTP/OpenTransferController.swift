import Hummingbird
import ServiceKit

/// Money under way, for operators, on the internal port.
struct OpenTransferController: Sendable {
    let store: OpenTransferStore

    /// Adds the route under `/internal`.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.get("/open-transfers") { _, _ in try APIResponse(json: Sums(data: try await self.sums())) }
    }

    private struct Sums: Encodable {
        let data: [Sum]
    }

    /// A state in which money is held, over both routes.
    private struct Sum: Encodable {
        let state: String
        let count: Int64
        /// Kobo, with fee and duty.
        let amount: Int64
        let oldestSeconds: Double

        enum CodingKeys: String, CodingKey {
            case state, count, amount
            case oldestSeconds = "oldest_seconds"
        }
    }

    /// Each state in which money is held, also when nothing is in it.
    private func sums() async throws -> [Sum] {
        let found = try await self.store.counts()
        return OpenTransferStore.states.map { state in
            let open = found.filter { $0.state == state }
            return Sum(
                state: state,
                count: open.reduce(0) { $0 + $1.count },
                amount: open.reduce(0) { $0 + $1.amount },
                oldestSeconds: open.map(\.oldestSeconds).max() ?? 0
            )
        }
    }
}
