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
        let data: [OpenTransfers]
    }

    /// Each state in which money is held, also when nothing is in it.
    private func sums() async throws -> [OpenTransfers] {
        let found = try await self.store.counts()
        return OpenTransferStore.states.map { state in
            found.first { $0.state == state } ?? OpenTransfers(state: state, count: 0, amount: 0, oldestSeconds: 0)
        }
    }
}
