import Contracts
import Foundation
import Messaging
import Primitives
import Sealing
import ServiceKit

/// Job: collects what all services hold about a person, a page at a time, and keeps it sealed with the person's key;
/// its key is the export's id.
///
/// The place is committed with the page, so whatever crashes, no page is missing or there twice. No more than one page
/// is in memory.
struct CollectExport: Sendable {
    let database: EventDatabase
    let exports: ExportStore
    let sources: any ExportSources
    let keys: any DataKeys
    let clock: any TimeSource

    /// Of the seal of a page.
    static let field = "export.part"
    static let lease = Duration.seconds(60)
    /// Well below the lease, together with one call.
    private static let slice = Duration.seconds(10)

    /// Runs the job.
    func callAsFunction(_ job: Job) async throws -> JobOutcome {
        guard let id = UUID(text: job.key) else { return .failed(reason: "no_export") }
        let begin = ContinuousClock.now
        while true {
            guard let export = try await self.exports.find(id, on: self.database), let place = export.place else {
                return .cancelled(reason: "no_longer_wanted")
            }
            guard let key = try await self.keys.key(for: export.user) else { throw CustomerError.erased }
            guard export.parts < PersonalExport.maximumParts else { return try await self.fail(job, export, .tooLarge) }
            let page: ExportPage
            do {
                page = try await self.sources.page(of: export.user, at: place)
            } catch let problem as ExportUnavailable {
                let isLate = self.clock.now.timeIntervalSince(export.requestedAt) > PersonalExport.patience
                if isLate { return try await self.fail(job, export, .notCollected) }
                return .again(reason: "\(problem.service.rawValue)_unavailable", after: nil)
            }
            let following = place.following(next: page.next)
            let part = try page.rows.isEmpty ? nil : Self.part(page, of: place.service, sealedFor: export.user, key)
            try await self.take(part, of: export, then: following, job)
            if following == nil { return .done }
            if ContinuousClock.now - begin > Self.slice { return .again(reason: "under_way", after: .zero) }
        }
    }

    private func take(
        _ part: ExportStore.Part?,
        of export: PersonalExport,
        then place: PersonalExport.Place?,
        _ job: Job
    ) async throws {
        try await self.database.transaction(cause: job.cause) { transaction in
            // When another run went on, or the person was erased, this page does not count.
            let isMine = try await self.exports.advance(export, to: place, part: part, in: transaction)
            guard place == nil else { return }
            try await job.finish(in: transaction)
            guard isMine else { return }
            let expiry = transaction.now.addingTimeInterval(PersonalExport.day)
            try await transaction.publish(
                UserExportReady(
                    userID: export.user.uuid,
                    exportID: export.id,
                    expiresAt: Timestamp.text(expiry)
                ),
                about: export.user
            )
        }
    }

    private func fail(
        _ job: Job,
        _ export: PersonalExport,
        _ reason: PersonalExport.Failure
    ) async throws -> JobOutcome {
        try await self.database.transaction(cause: job.cause) { transaction in
            try await job.finish(in: transaction)
            try await self.exports.fail(export, reason, in: transaction)
        }
        return .done
    }

    private static func part(
        _ page: ExportPage,
        of service: ServiceName,
        sealedFor user: UserID,
        _ key: DataKey
    ) throws -> ExportStore.Part {
        let json = String(decoding: try APIResponse.encoder().encode(page), as: UTF8.self)
        return ExportStore.Part(
            service: service,
            content: try key.seal(json, field: Self.field, of: user),
            size: Int64(json.utf8.count)
        )
    }
}
