import Messaging

/// Names of the kinds of jobs.
enum AnalyticsJob {
    static let readWords: JobKind = "read_words"
}

/// Job -> what runs it.
enum AnalyticsJobs {
    /// The table.
    static func make(words: ReadWords) -> [JobDefinition] {
        [JobDefinition(AnalyticsJob.readWords, concurrency: 2, firstPause: .seconds(5)) { try await words($0) }]
    }
}
