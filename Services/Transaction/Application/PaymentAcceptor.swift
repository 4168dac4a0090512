import Foundation
import Primitives
import ServiceKit
import ServiceLifecycle

/// Spreads payments over lanes by their sender: two batches that run at once then share no sender's row.
struct PaymentAcceptor: Service {
    private let lanes: [BatchLane<AcceptanceItem, AcceptanceAnswer>]

    /// Two keep the database busy; more collide.
    static let laneCount = 2

    init(store: AcceptanceStore) {
        self.lanes = (0..<Self.laneCount).map { _ in
            // A payment whose answer was lost with its batch finds it under its key.
            BatchLane(full: AcceptanceOverload(), closed: CancellationError()) { try await store.accept($0) }
        }
    }

    /// Waits for the answer to one payment.
    ///
    /// - Throws: `AcceptanceOverload` when too many wait; what the database throws.
    func accept(_ item: AcceptanceItem) async throws -> AcceptanceAnswer {
        let lane = Int(item.sender.uuid.uuid.15) % self.lanes.count
        return try await self.lanes[lane].submit(item)
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

/// Too many payments wait already.
struct AcceptanceOverload: Error {}
