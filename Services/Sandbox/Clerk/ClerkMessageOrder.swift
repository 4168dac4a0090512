import Foundation

/// A message of Clerk to send, right or wrong in the ways asked for.
struct ClerkMessageOrder: Sendable {
    let id: String
    let age: Int64
    let secret: String
    let body: [UInt8]
    /// Sent instead of the body that was signed.
    let isAltered: Bool

    init(_ fields: Fields, secret: String) throws(Refusal) {
        let json = fields.json
        let subject = try fields.text("subject")
        let type = json["type"]?.text ?? "user.deleted"
        self.id = json["id"]?.text ?? "msg_" + UUID().uuidString.filter { $0 != "-" }
        self.age = json["age_seconds"]?.number ?? 0
        self.secret = json["secret"]?.text ?? secret
        self.isAltered = json["altered"]?.flag ?? false
        let data: JSON =
            if type.hasPrefix("session.") {
                [
                    "id": .string(json["session"]?.text ?? "sess_sandbox"), "object": "session",
                    "user_id": .string(subject), "status": .string(String(type.dropFirst("session.".count))),
                ]
            } else {
                ["id": .string(subject), "object": "user", "deleted": .bool(type == "user.deleted")]
            }
        let message: JSON = [
            "type": .string(type), "object": "event", "instance_id": "ins_sandbox", "data": data,
        ]
        self.body = message.bytes
    }

    /// Sends it as Svix does; nil when nobody answered.
    func send(to url: String, at now: Int64, by sender: WebhookSender) async throws(Refusal) -> Int? {
        let timestamp = now - self.age
        guard let signature = svixSignature(self.body, id: self.id, timestamp: timestamp, secret: self.secret) else {
            throw .badRequest("secret must be whsec_ and base64")
        }
        let headers = [("svix-id", self.id), ("svix-timestamp", "\(timestamp)"), ("svix-signature", signature)]
        return await sender.send(self.body + (self.isAltered ? [0x20] : []), to: url, headers: headers)
    }
}
