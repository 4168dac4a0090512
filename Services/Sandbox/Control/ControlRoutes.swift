import Hummingbird
import Logging

/// The control API under `/sandbox`: no key, for tests and people on the same machine.
struct ControlRoutes: Sendable {
    let provider: Provider
    let keys: ProviderKeys
    let sender: WebhookSender
    let recorder: PushRecorder
    let configuration: SandboxConfiguration

    func add(to router: Router<SandboxContext>) {
        let group = router.group("sandbox")
        self.addState(to: group)
        self.addSwitches(to: group)
        self.addFaults(to: group)
        self.addMoney(to: group)
        self.addCustomers(to: group)
        self.addLog(to: group)
        self.addWebhooks(to: group)
        self.addPushes(to: group)
        self.addKeys(to: group)
    }

    private func addKeys(to group: RouterGroup<SandboxContext>) {
        let keys = self.keys
        group.get("anchor/keys") { _, _ in Response.json(keys.json) }
        group.put("anchor/keys") { request, _ in
            let wanted = try await request.fields().json["keys"]?.items?.map { $0.text ?? "" }
            try keys.replace(with: wanted ?? [])
            return Response.json(keys.json)
        }
    }

    private func addState(to group: RouterGroup<SandboxContext>) {
        let control = self
        group.get("health") { _, _ in Response.json(["status": "ok"]) }
        group.post("reset") { _, _ in
            try control.provider.reset(control.configuration)
            try control.keys.replace(with: control.configuration.apiKeys)
            control.recorder.clear()
            return Response.json(["status": "ok"])
        }
    }

    private func addPushes(to group: RouterGroup<SandboxContext>) {
        let control = self
        group.get("apns/pushes") { request, _ in
            let after = request.query("after").flatMap { Int64($0) } ?? 0
            return Response.json(control.recorder.list(after: after, limit: Self.limit(request)))
        }
        group.post("apns/failures") { request, _ in
            let fields = try await request.fields().json
            guard let status = fields["status"]?.number, (200...599).contains(status) else {
                throw Refusal.badRequest("A status is needed")
            }
            let failure = PushFailure(
                status: Int(status),
                reason: fields["reason"]?.text,
                timestamp: fields["timestamp"]?.number
            )
            control.recorder.fail(failure, times: Int(min(max(fields["count"]?.number ?? 1, 1), 1000)))
            return Response.json(["status": "ok"])
        }
    }

    /// A bounded page size.
    static func limit(_ request: Request) -> Int {
        min(max(request.query("limit").flatMap { Int($0) } ?? 100, 1), 1000)
    }
}
