/// What a consumer was made with.
struct ConsumerOptions: Sendable {
    let configuration: AMQPConfiguration
    let queue: String
    let prefetch: UInt16
    let maxBatch: Int
    let offset: AMQPStreamOffset?
    let arguments: [String: AMQPValue]
    let onQueueGone: (@concurrent @Sendable () async -> Void)?

    /// The arguments of `basic.consume`.
    func arguments(resumingAt offset: UInt64?) -> [String: AMQPValue] {
        guard let begin = self.offset else { return self.arguments }
        let start = offset.map { AMQPStreamOffset.offset($0) } ?? begin
        return self.arguments.merging(["x-stream-offset": start.argument]) { _, new in new }
    }
}
