import ServiceKit

extension Exports {
    /// What notification holds about a person.
    static let notification = Exports(
        [
            ExportTable(
                "customers",
                keys: [.userID],
                shown: ["status", "created_at", "verified_at"],
                leftOut: ["user_id": LeftOut.person, "anchor_customer_id": LeftOut.provider]
            ),
            ExportTable(
                "inboxes",
                keys: [.userID],
                shown: ["read_up_to", "unread", "shows_amounts", "muted"],
                leftOut: ["user_id": LeftOut.person, "last_position": LeftOut.order, "revision": LeftOut.order]
            ),
            // What has no place in the inbox was for a push alone, and repeats what other tables tell.
            ExportTable(
                "notifications",
                where: "user_id = {person} AND position IS NOT NULL",
                keys: [.init("position", "bigint")],
                isIndexed: true,
                shown: ["id", "kind", "title", "body", "subject", "read_at", "created_at", "category"],
                leftOut: ["user_id": LeftOut.person, "event_id": LeftOut.inner, "position": LeftOut.order]
            ),
            ExportTable(
                "push_tokens",
                shown: ["id", "device_id", "registered_at"],
                leftOut: [
                    "user_id": LeftOut.person, "token_hash": LeftOut.secret, "session_id": LeftOut.inner,
                    "token": "a secret of the phone, with which it can be rung",
                ]
            ),
        ],
        excuses: [
            Excuse("users", because: "a copy of the name, which auth gives"),
            Excuse("devices", because: "a copy of the devices, which auth names"),
            Excuse("ended_sessions", because: "random numbers, so that a session that is over gets no messages"),
        ]
    )
}
