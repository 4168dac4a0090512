import ServiceKit

extension Exports {
    /// What transaction holds about a person.
    static let transaction = Exports(
        [
            Self.balance, Self.entries, .sentTransfers, .receivedTransfers, .moneyDrops, .dropClaims,
            .paymentRequests, .paymentRequestsAsked, Self.requestImages, Self.charges, Self.disputes, Self.limits,
            Self.spending, Self.receiving,
        ],
        excuses: [
            Excuse("users", because: "copies of what auth, customer, account and subscription give"),
            Excuse("ledger_accounts", because: "the number of the wallet; its balance and its entries are given"),
            Excuse("beneficiaries", because: "a copy of what customer gives"),
            Excuse("devices", because: "a copy of the keys of devices, which auth names"),
            Excuse("blocks", because: "a copy of what customer gives"),
            Excuse("inbound_payments", because: "what account gives, as it was booked"),
            Excuse("approval_nonces", because: "random numbers, so that no approval works twice"),
            Excuse("approval_ends", because: "numbers of events, so that an approval ends with its PIN"),
            Excuse("ended_sessions", because: "random numbers, so that an approval ends with its session"),
            Excuse("refused_orders", because: "refusals of 30 days, so that a request has one answer"),
            Excuse(
                "room_refusals",
                because: "how often a payer met a full wallet today; it tells of the other's money"
            ),
            Excuse("drop_password_failures", because: "wrong passwords, so that none can be searched for"),
            Excuse(
                "risk_alerts",
                because: "what stands out for those who look for fraud; the law forbids to tell of it"
            ),
        ]
    )

    private static let wallet = "account_id = (SELECT wallet_id FROM users WHERE id = {person})"

    private static let balance = ExportTable(
        "balances",
        where: Self.wallet,
        keys: [.init("account_id", "bigint")],
        shown: ["posted", "held", "debits_blocked", "owed"],
        leftOut: ["account_id": LeftOut.inner, "sequence": LeftOut.order, "checked": LeftOut.inner]
    )

    private static let entries = ExportTable(
        "entries",
        where: Self.wallet,
        keys: [.init("sequence", "bigint")],
        isIndexed: true,
        shown: ["sequence", "amount", "balance_after", "leg", "transfer_id", "posted_at"],
        leftOut: ["account_id": LeftOut.inner]
    )

    private static let requestImages = ExportTable(
        "request_images",
        keys: [.init("key", "text")],
        shown: ["key", "request_id", "content_type", "is_uploaded", "created_at"],
        leftOut: ["user_id": LeftOut.person]
    )

    private static let charges = ExportTable(
        "subscription_charges",
        keys: [.init("reference", "text")],
        shown: ["reference", "attempt", "reason", "transfer_id", "decided_at"],
        leftOut: ["user_id": LeftOut.person, "sequence": LeftOut.order]
    )

    private static let disputes = ExportTable(
        "disputes",
        shown: [
            "id", "transfer_id", "reason", "state", "opened_at", "due_at", "answered_at", "outcome", "closed_at",
        ],
        sealed: [
            .init("description", field: SealedText.dispute), .init("answer", field: SealedText.disputeAnswer),
        ],
        leftOut: ["user_id": LeftOut.person, "position": LeftOut.order]
    )

    private static let limits = ExportTable(
        "user_limits",
        keys: [.userID],
        shown: ["per_transfer", "per_day", "per_month"],
        leftOut: ["user_id": LeftOut.person, "customer_sequence": LeftOut.order]
    )

    private static let spending = ExportTable(
        "spending_counters",
        keys: [.userID],
        shown: ["day", "day_total", "month", "month_total"],
        leftOut: ["user_id": LeftOut.person]
    )

    private static let receiving = ExportTable(
        "receiving_counters",
        keys: [.userID],
        shown: ["month", "slots_used", "slots_adjusted", "slots_forgiven"],
        leftOut: [
            "user_id": LeftOut.person, "event_sequence": LeftOut.order,
            "incoming": "what others are sending at this moment, and may still fail",
        ]
    )
}
