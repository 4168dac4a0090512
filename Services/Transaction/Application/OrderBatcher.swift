import Foundation
import Primitives
import ServiceKit
import ServiceLifecycle

/// Spreads orders over lanes by their sender: two batches that run at once then share no sender's row.
struct OrderBatcher: Service {
    private let lanes: [BatchLane<PendingOrder, OrderStore.Placement>]

    /// Two keep the database busy; more collide.
    static let laneCount = 2

    init(store: OrderStore) {
        self.lanes = (0..<Self.laneCount).map { _ in
            // An order whose answer was lost with its batch finds it under its key.
            BatchLane(full: OrderOverload(), closed: CancellationError()) { try await store.place($0) }
        }
    }

    /// Waits for the answer to one order.
    ///
    /// - Throws: `OrderOverload` when too many wait; what the database throws.
    func place(_ order: PendingOrder) async throws -> OrderStore.Placement {
        let lane = Int(order.sender.uuid.uuid.15) % self.lanes.count
        return try await self.lanes[lane].submit(order)
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

/// Too many orders wait already.
struct OrderOverload: Error {}
