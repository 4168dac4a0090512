import ServiceKit

extension Exports {
    /// What subscription holds about a person.
    static let subscription = Exports(
        [
            ExportTable(
                "subscriptions",
                keys: [.userID],
                shown: [
                    "plan", "active_until", "created_at", "updated_at", "grace_until", "anchored_at", "renews_as",
                    "next_charge_at", "pending_charge",
                ],
                leftOut: ["user_id": LeftOut.person]
            ),
            ExportTable(
                "charges",
                keys: [.init("reference", "text")],
                shown: [
                    "reference", "plan", "amount", "attempt", "starts_at", "state", "reason", "transaction_id",
                    "requested_at", "decided_at",
                ],
                leftOut: ["user_id": LeftOut.person]
            ),
            ExportTable(
                "usage",
                keys: [.init("month", "text")],
                shown: ["month", "used", "updated_at"],
                leftOut: ["user_id": LeftOut.person, "sequence": LeftOut.order]
            ),
            ExportTable(
                "adjustments",
                shown: ["id", "month", "delta", "created_at"],
                leftOut: ["user_id": LeftOut.person]
            ),
        ],
        excuses: [
            Excuse("devices", because: "a copy of the keys of devices, which auth names"),
            Excuse("approval_nonces", because: "random numbers, so that no approval works twice"),
            Excuse("approval_ends", because: "numbers of events, so that an approval ends with its PIN"),
            Excuse("ended_sessions", because: "random numbers, so that an approval ends with its session"),
            Excuse("closed_profiles", because: "a copy of the closing, which customer gives"),
        ]
    )
}
