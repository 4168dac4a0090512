import Contracts
import Foundation
import Messaging
import Primitives

/// Begins rebuilds of projections; once begun they are replays like others.
struct RebuildDesk: Sendable {
    let replays: ReplayDesk
    let archive: ArchiveReads
    let targets: any RebuildTargets

    /// Why none begins.
    enum Refusal: Error {
        case unknownProjection
        case unreachable
        /// A part of the event log was lost and has not been fetched yet.
        case archiveHasGaps
        /// What came before the archive would be lost.
        case archiveBeginsLater
    }

    /// Begins one.
    ///
    /// - Throws: `Refusal`, `ReplayDesk.Refusal`.
    func begin(
        _ projection: String,
        of service: ServiceName,
        rate: Int,
        by order: OperatorOrder
    ) async throws -> Replay {
        let found: RemoteProjection?
        do {
            found = try await self.targets.projection(projection, of: service)
        } catch is RebuildTargetProblem {
            throw Refusal.unreachable
        }
        guard let found else { throw Refusal.unknownProjection }
        guard try await self.archive.status().openGaps == 0 else { throw Refusal.archiveHasGaps }
        guard let beginning = try await self.archive.beginning(), let since = Timestamp.parse(found.since),
            beginning <= since
        else { throw Refusal.archiveBeginsLater }
        var selection = ReplaySelection()
        selection.types = found.types
        let wanted = Replay.Order(
            service: service,
            mode: .rebuild,
            effects: .off,
            rate: rate,
            selection: selection,
            projection: projection
        )
        return try await self.replays.begin(wanted, by: order)
    }
}
