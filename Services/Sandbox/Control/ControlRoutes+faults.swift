import HTTPTypes
import Hummingbird

extension ControlRoutes {
    func addFaults(to group: RouterGroup<SandboxContext>) {
        let faults = self.provider.faults
        group.get("faults") { _, _ in Response.json(["faults": .array(faults.all.map(\.json))]) }
        group.post("faults") { request, _ in
            let fields = try await request.fields()
            let text = try fields.text("fault")
            guard let fault = Fault(text) else {
                throw Refusal.badRequest(
                    """
                    fault must be delay=MS, status=CODE[:WORDS], status-after=CODE[:WORDS], drop-before, drop-after or \
                    late-commit=MS
                    """
                )
            }
            let rule = FaultRule(
                id: 0,
                method: fields.json["method"]?.text,
                path: fields.json["path"]?.text,
                bodyContains: fields.json["body_contains"]?.text,
                fault: fault,
                text: text,
                remaining: max(1, fields.json["count"]?.number ?? 1)
            )
            guard let added = faults.add(rule) else { throw Refusal.conflict("There are too many fault rules") }
            return Response.json(added.json, status: .created)
        }
        group.delete("faults") { _, _ in
            faults.clear()
            return Response.json(["faults": []])
        }
        group.delete("faults/:id") { _, context in
            faults.remove(Int(context.text("id")) ?? 0)
            return Response.json(["faults": .array(faults.all.map(\.json))])
        }
    }
}
