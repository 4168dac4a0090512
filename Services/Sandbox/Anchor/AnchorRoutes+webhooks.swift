import Hummingbird

extension AnchorRoutes {
    func addWebhooks(to group: RouterGroup<SandboxContext>) {
        let provider = self.provider
        group.post("webhooks") { request, _ in
            let body = try await request.bytes()
            let json = try provider.perform { state in try state.register(body) }
            return Response.json(single(json), status: .created)
        }
        group.get("webhooks") { _, _ in
            Response.json(["data": .array(provider.store.read { $0.target.map { [$0.json] } ?? [] })])
        }
        group.get("events/:id") { _, context in
            let id = context.text("id")
            let event = try provider.store.read { $0.events[id] }.orNotFound("Event")
            return Response.json(single(JSON(parsing: event.content.utf8) ?? .null))
        }
    }
}

extension SandboxState {
    /// Registers the one target; a second registration replaces the first.
    mutating func register(_ body: [UInt8]) throws(Refusal) -> JSON {
        let document = try Document(body)
        guard document.type == "Webhook" else { throw .badRequest("data.type must be Webhook") }
        let fields = document.attributes
        let url = try fields.text("url")
        guard url.hasPrefix("http://") || url.hasPrefix("https://") else { throw .badRequest("url is not valid") }
        let token = try fields.text("token")
        guard token.utf8.count <= 10 else { throw .badRequest("token size must be between 1 and 10") }
        let mode = try fields.word("deliveryMode", of: ["AtMostOnce", "AtLeastOnce"])
        self.setTarget(
            url: url,
            token: token,
            isAtLeastOnce: mode == "AtLeastOnce",
            includesRelated: fields.json["supportIncluded"]?.flag ?? false
        )
        return self.target?.json ?? .null
    }
}

extension WebhookTarget {
    var json: JSON {
        resource(
            self.id,
            "Webhook",
            [
                "url": .string(self.url), "secretToken": .string(self.token), "status": "Enabled",
                "deliveryMode": self.isAtLeastOnce ? "AtLeastOnce" : "AtMostOnce",
                "supportIncluded": .bool(self.includesRelated), "allEventsEnabled": true,
            ]
        )
    }
}
