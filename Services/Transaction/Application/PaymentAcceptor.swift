import Foundation
import Primitives
import ServiceLifecycle

/// Spreads payments over lanes by their sender: two batches that run at once then share no sender's row.
struct PaymentAcceptor: Service {
    private let lanes: [AcceptanceLane]

    /// Two keep the database busy; more collide.
    static let laneCount = 2

    init(store: AcceptanceStore) {
        self.lanes = (0..<Self.laneCount).map { _ in AcceptanceLane(store: store) }
    }

    func accept(_ item: AcceptanceItem) async throws -> AcceptanceAnswer {
        let lane = Int(item.sender.uuid.uuid.15) % self.lanes.count
        return try await self.lanes[lane].accept(item)
    }

    /// Runs until told to stop, which happens when the public server has answered its last request.
    func run() async {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                for lane in self.lanes { group.addTask { await lane.run() } }
            }
        }
    }
}
