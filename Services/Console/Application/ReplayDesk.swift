import Contracts
import Foundation
import Messaging
import Primitives

/// What operators do about replays; each act stands in the audit.
struct ReplayDesk: Sendable {
    let database: EventDatabase
    let store: ReplayStore
    let reads: ReplayReads
    let archive: ArchiveReads

    /// Why an act is refused.
    enum Refusal: Error {
        case unknown
        case underWay
        case notRunning
        case finished
    }

    /// Begins a replay.
    ///
    /// - Throws: `Refusal`.
    func begin(_ order: Replay.Order, by operatorOrder: OperatorOrder) async throws -> Replay {
        let position = try await self.archive.head()
        let types = order.selection.types(heardBy: order.service)
        let planned = try await self.reads.count(order.selection, types, upTo: position)
        let id = try await self.refusing {
            try await self.database.transaction(cause: Cause(correlationID: operatorOrder.request)) { transaction in
                let id = try await self.store.begin(
                    order,
                    planned: planned,
                    upTo: position,
                    by: operatorOrder,
                    in: transaction
                )
                try await transaction.enqueue(ConsoleJob.replay, key: id.lowercased, subject: order.service.rawValue)
                let act = Act(order, planned: planned, selection: try ReplayStore.text(of: order.selection))
                try await transaction.record("replay.started", on: id.lowercased, after: act, by: operatorOrder)
                return id
            }
        }
        return try await self.found(id)
    }

    /// Ends one that is running.
    ///
    /// - Throws: `Refusal`.
    func cancel(_ id: UUID, by order: OperatorOrder) async throws -> Replay {
        try await self.change(id, to: .cancelled, "replay.cancelled", by: order) { state in
            guard state == .running else { throw Refusal.notRunning }
        }
    }

    /// Lets one go on that was cancelled or has failed; one that is running already does.
    ///
    /// - Throws: `Refusal`.
    func resume(_ id: UUID, by order: OperatorOrder) async throws -> Replay {
        try await self.change(id, to: .running, "replay.resumed", by: order) { state in
            guard state != .finished else { throw Refusal.finished }
        }
    }

    private func change(
        _ id: UUID,
        to state: Replay.State,
        _ act: String,
        by order: OperatorOrder,
        _ check: @Sendable (Replay.State) throws -> Void
    ) async throws -> Replay {
        try await self.refusing {
            try await self.database.transaction(cause: Cause(correlationID: order.request)) { transaction in
                guard let now = try await self.store.lockedState(of: id, in: transaction) else { throw Refusal.unknown }
                try check(now)
                try await self.store.set(state, of: id, in: transaction)
                if state == .running { try await transaction.requeue(ConsoleJob.replay, key: id.lowercased) }
                try await transaction.record(
                    act,
                    on: id.lowercased,
                    before: Moved(state: now.rawValue),
                    after: Moved(state: state.rawValue),
                    by: order
                )
            }
        }
        return try await self.found(id)
    }

    private func refusing<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch is ReplayStore.UnderWay {
            throw Refusal.underWay
        }
    }

    private func found(_ id: UUID) async throws -> Replay {
        guard let replay = try await self.store.find(id, on: self.database) else { throw Refusal.unknown }
        return replay
    }

    // MARK: What the audit says

    private struct Act: Encodable, Sendable {
        let service: String
        let mode: String
        let effects: String
        let rate: Int
        let selection: String
        let planned: Int64

        init(_ order: Replay.Order, planned: Int64, selection: String) {
            self.service = order.service.rawValue
            self.mode = order.mode.rawValue
            self.effects = order.effects.rawValue
            self.rate = order.rate
            self.selection = selection
            self.planned = planned
        }
    }

    private struct Moved: Encodable, Sendable {
        let state: String
    }
}
