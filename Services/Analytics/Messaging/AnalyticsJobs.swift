import Messaging

/// Names of the kinds of jobs.
enum AnalyticsJob {
    static let readWords: JobKind = "read_words"
    static let rebuild: JobKind = "rebuild_projection"
}

/// Job -> what runs it.
enum AnalyticsJobs {
    /// The table.
    static func make(words: ReadWords, rebuild: RebuildProjection) -> [JobDefinition] {
        [
            JobDefinition(AnalyticsJob.readWords, concurrency: 2, firstPause: .seconds(5)) { try await words($0) },
            JobDefinition(AnalyticsJob.rebuild, concurrency: 1, firstPause: .seconds(2)) { try await rebuild($0) },
        ]
    }
}
