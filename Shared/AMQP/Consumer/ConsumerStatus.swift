/// What other threads may ask about a consumer and tell it.
struct ConsumerStatus: Sendable {
    var isConsuming = false
    /// Set at once by `stop`, so that no batch is handed over after it.
    var isStopped = false
}
