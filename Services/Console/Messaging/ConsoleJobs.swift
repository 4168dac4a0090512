import Foundation
import Messaging

/// Names of the kinds of jobs.
enum ConsoleJob {
    static let backfill: JobKind = "backfill_archive"
    static let replay: JobKind = "run_replay"
}

/// Job -> what runs it.
enum ConsoleJobs {
    /// The table.
    static func make(backfill: BackfillArchive, replay: RunReplay) -> [JobDefinition] {
        [
            JobDefinition(ConsoleJob.backfill, concurrency: 2, lease: .seconds(120), maximumPause: .seconds(60)) {
                try await backfill($0)
            },
            JobDefinition(
                ConsoleJob.replay,
                concurrency: 4,
                lease: RunReplay.lease,
                firstPause: .milliseconds(250),
                maximumPause: .seconds(5)
            ) { try await replay($0) },
        ]
    }
}

/// What happens by the clock.
enum ConsoleSchedules {
    /// 90 days after its end a replay and what it found are forgotten.
    private static let replaysKept: Double = 90 * 86_400
    /// So long it can be seen who had signed in when something was done.
    private static let sessionsKept: Double = 90 * 86_400

    /// The table.
    static func make(_ days: ArchiveDays, _ replays: ReplayStore) -> [Schedule] {
        [
            Schedule("archive_days", every: .seconds(3600)) { try await days.makeAhead(in: $0) },
            Schedule("archive_retention", every: .seconds(3600)) { _ in try await days.dropOld() },
            Schedule("old_replays", every: .seconds(3600)) { transaction in
                try await replays.forget(before: transaction.now.addingTimeInterval(-Self.replaysKept), in: transaction)
            },
            Schedule("old_sessions", every: .seconds(3600)) { transaction in
                let end = transaction.now.addingTimeInterval(-Self.sessionsKept)
                try await SessionStore().forget(before: end, in: transaction)
            },
        ]
    }
}
