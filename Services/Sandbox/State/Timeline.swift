/// Does things later.
///
/// One child task per thing that waits.
struct Timeline: Sendable {
    private let stream: AsyncStream<FollowUp>
    private let continuation: AsyncStream<FollowUp>.Continuation

    init() { (self.stream, self.continuation) = AsyncStream.makeStream() }

    /// Plans actions.
    ///
    /// May be called before `run` and from any task.
    func schedule(_ followUps: [FollowUp]) {
        for followUp in followUps { self.continuation.yield(followUp) }
    }

    /// Runs the actions when they are due, until cancelled; those that wait then are dropped.
    func run(_ perform: @escaping @Sendable (FollowUp.Action) async -> Void) async {
        await withDiscardingTaskGroup { group in
            for await followUp in self.stream {
                group.addTask {
                    if followUp.delay > 0 {
                        guard (try? await Task.sleep(for: .milliseconds(followUp.delay))) != nil else { return }
                    }
                    await perform(followUp.action)
                }
            }
            group.cancelAll()
        }
    }
}
