import Logging
import Primitives
import ServiceLifecycle

/// The stand-in provider: state, things to do later, and webhooks.
final class Provider: Service {
    let store: Store
    let faults: FaultRules
    private let timeline: Timeline
    private let sender: WebhookSender
    private let logger: Logger

    init(configuration: SandboxConfiguration, sender: WebhookSender, time: any TimeSource, logger: Logger) throws {
        self.store = try Store(directory: configuration.stateDirectory, time: time)
        self.faults = FaultRules()
        self.timeline = Timeline()
        self.sender = sender
        self.logger = logger
        try self.perform { state in
            state.adopt(configuration)
            state.resume()
        }
    }

    /// Runs an operation on the state and plans what follows from it.
    @discardableResult
    func perform<Value: Sendable>(_ body: (inout SandboxState) throws -> Value) throws -> Value {
        let (value, followUps) = try self.store.write(body)
        if !followUps.isEmpty { self.timeline.schedule(followUps) }
        return value
    }

    /// Forgets everything but the target and the switches of the environment.
    func reset(_ configuration: SandboxConfiguration) throws {
        self.faults.clear()
        try self.store.reset()
        try self.perform { $0.adopt(configuration) }
    }

    /// Plans a transfer request whose answer never comes and that is taken later.
    func takeLate(body: [UInt8], idempotencyKey: String?, after delay: Int64) {
        self.timeline.schedule([
            FollowUp(delay: delay, action: .takeLate(body: body, idempotencyKey: idempotencyKey))
        ])
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.sender.run(self) }
                group.addTask { await self.timeline.run { await self.act($0) } }
            }
        }
    }

    private func act(_ action: FollowUp.Action) async {
        do {
            switch action {
            case .settleTransfer(let id): try self.perform { $0.endTransfer(id) }
            case .reverseTransfer(let id): try self.perform { $0.reverseTransfer(id) }
            case .endVerification(let id): try self.perform { $0.endVerification(id) }
            case .reviewDocuments(let id): try self.perform { $0.reviewDocuments(id) }
            case .numberAccount(let id): try self.perform { $0.numberAccount(id) }
            case .settleInbound(let id): try self.perform { $0.settleInbound(id) }
            case .deliver(let event): self.sender.enqueue(event)
            case .takeLate(let body, let key): try self.perform { try $0.takeTransfer(body, idempotencyKey: key) }
            }
        } catch {
            self.logger.warning("a delayed action failed", metadata: ["error": "\(error)"])
        }
    }
}
