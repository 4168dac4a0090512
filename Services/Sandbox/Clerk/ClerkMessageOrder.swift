import Foundation

/// A message of Clerk to send, right or wrong in the ways asked for.
struct ClerkMessageOrder: Sendable {
    let id: String
    let age: Int64
    let secret: String
    let body: [UInt8]
    /// Sent instead of the body that was signed.
    let isAltered: Bool

    init(_ fields: Fields, secret: String, at now: Int64) throws(Refusal) {
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
            } else if type == "user.deleted" {
                ["id": .string(subject), "object": "user", "deleted": true]
            } else {
                try Self.user(subject, fields, at: now)
            }
        let message: JSON = [
            "type": .string(type), "object": "event", "instance_id": "ins_sandbox", "data": data,
        ]
        self.body = message.bytes
    }

    /// A user as Clerk shows one, with addresses and numbers that are verified and some that are not.
    private static func user(_ subject: String, _ fields: Fields, at now: Int64) throws(Refusal) -> JSON {
        let json = fields.json
        let addresses = try Self.list(json, "emails", "email_address", isVerified: true)
        let unproven = try Self.list(json, "unverified_emails", "email_address", isVerified: false)
        let numbers = try Self.list(json, "phones", "phone_number", isVerified: true)
        return [
            "id": .string(subject), "object": "user", "deleted": false,
            "email_addresses": .array(addresses + unproven), "phone_numbers": .array(numbers),
            "updated_at": .integer(json["updated_at"]?.number ?? now * 1000),
        ]
    }

    private static func list(
        _ json: JSON,
        _ name: String,
        _ member: String,
        isVerified: Bool
    ) throws(Refusal) -> [JSON] {
        var shown: [JSON] = []
        for item in json[name]?.items ?? [] {
            guard let text = item.text else { throw .badRequest("\(name) must be a list of texts") }
            shown.append([
                "id": .string("idn_\(shown.count)"), member: .string(text),
                "verification": ["status": .string(isVerified ? "verified" : "unverified")],
            ])
        }
        return shown
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
