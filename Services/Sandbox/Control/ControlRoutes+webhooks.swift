import Hummingbird

extension ControlRoutes {
    func addWebhooks(to group: RouterGroup<SandboxContext>) {
        let control = self
        group.put("webhook") { request, _ in
            let fields = try await request.fields()
            let known = control.provider.store.read { $0.target?.url }
            let url = try fields.json["url"] == nil ? known.orNotFound("Webhook target") : fields.text("url")
            let token = fields.json["token"]?.text ?? control.configuration.webhookToken
            guard (1...10).contains(token.utf8.count) else {
                throw Refusal.badRequest("token size must be between 1 and 10")
            }
            let isAtLeastOnce = fields.json["at_least_once"]?.flag ?? true
            let includesRelated = fields.json["include_related"]?.flag ?? false
            try control.provider.perform {
                $0.setTarget(url: url, token: token, isAtLeastOnce: isAtLeastOnce, includesRelated: includesRelated)
            }
            return Response.json(["url": .string(url)])
        }
        group.post("webhooks/send") { request, _ in
            let fields = try await request.fields()
            let target = try control.provider.store.read { $0.target }.orNotFound("Webhook target")
            guard let body = fields.json["body"] else { throw Refusal.badRequest("body must not be null") }
            let token = fields.json["token"]?.text ?? target.token
            let signature = fields.json["unsigned"]?.flag == true ? nil : webhookSignature(body.bytes, token: token)
            let isPacked = fields.json["gzip"]?.flag ?? false
            let url = fields.json["url"]?.text ?? target.url
            let sent = await control.sender.post(url, body.bytes, signature: signature, isPacked: isPacked)
            return Response.json(["accepted": .bool(sent)])
        }
        group.post("webhooks/:id/resend") { _, context in
            let id = context.text("id")
            let event = try control.provider.store.read { $0.events[id] }.orNotFound("Event")
            try control.provider.perform { $0.follow(after: 0, .deliver(event)) }
            return Response.json(["id": .string(id)])
        }
    }
}
