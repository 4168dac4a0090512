/// Waiting for nothing but the end.
enum Cancellation {
    /// Returns when the task is cancelled.
    static func wait() async {
        let (never, continuation) = AsyncStream.makeStream(of: Never.self)
        for await _ in never {}
        // Kept until here: a stream whose continuation is gone ends.
        continuation.finish()
    }
}
