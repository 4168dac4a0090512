import ServiceKit

/// Transfers in two parts: who sent one and who got it see different things of it.
extension ExportTable {
    /// What is nobody's to read on either side.
    private static let inner: [String: String] = [
        "sequence": LeftOut.order, "steps": LeftOut.inner, "debit_account": LeftOut.inner,
        "credit_account": LeftOut.inner, "first_route": LeftOut.inner, "first_fee": LeftOut.inner,
        "first_duty": LeftOut.inner, "answer_version": LeftOut.inner, "source_account": LeftOut.provider,
        "destination": LeftOut.provider, "incoming_counted": LeftOut.inner, "spent_day": LeftOut.inner,
        "spent_month": LeftOut.inner, "capped_device_id": LeftOut.inner, "api_route": LeftOut.inner,
        "idempotency_key": LeftOut.inner, "request_key": LeftOut.inner, "request_hash": LeftOut.inner,
        "correlation_id": LeftOut.inner, "traceparent": LeftOut.inner, "provider_id": LeftOut.provider,
    ]

    static let sentTransfers = ExportTable(
        "transfers",
        title: "transfers_sent",
        where: "sender_id = {person}",
        isIndexed: true,
        shown: [
            "id", "reference", "type", "state", "recipient_username", "amount", "fee", "duty", "route", "device_id",
            "payment_request_id", "parent_id", "failure_reason", "created_at", "submitted_at", "ended_at",
        ],
        sealed: [.init("description", field: SealedText.description)],
        leftOut: Self.inner.merging([
            "sender_id": LeftOut.person, "recipient_id": LeftOut.others,
            "route_reason": "tells of the recipient's plan, bank account and settings",
            "beneficiary_id": LeftOut.others, "slot_month": "the recipient's free transfers",
        ]) { $1 }
    )

    /// What has arrived: how somebody else's payment failed is theirs.
    static let receivedTransfers = ExportTable(
        "transfers",
        title: "transfers_received",
        where: """
            recipient_id = {person} AND sender_id IS DISTINCT FROM {person} AND state IN ('completed', 'reversed')
            """,
        isIndexed: true,
        shown: [
            "id", "reference", "type", "state", "amount", "route", "route_reason", "beneficiary_id", "slot_month",
            "payment_request_id", "parent_id", "created_at", "ended_at",
        ],
        sealed: [.init("description", field: SealedText.description, of: "sender_id")],
        computed: [("sender_username", "SELECT u.username FROM users u WHERE u.id = mine.sender_id")],
        leftOut: Self.inner.merging([
            "recipient_id": LeftOut.person, "recipient_username": LeftOut.person, "sender_id": LeftOut.others,
            "fee": "what the sender paid", "duty": "what the sender paid", "device_id": "the sender's device",
            "failure_reason": "the sender's", "submitted_at": LeftOut.inner,
        ]) { $1 }
    )

    static let moneyDrops = ExportTable(
        "money_drops",
        where: "creator_id = {person}",
        keys: [.init("position", "bigint")],
        isIndexed: true,
        shown: [
            "id", "funding_id", "amount_per_claim", "slots", "link", "state", "end_reason", "expires_at", "created_at",
            "opened_at", "ended_at", "given_back",
        ],
        sealed: [.init("title", field: SealedText.dropTitle)],
        leftOut: [
            "creator_id": LeftOut.person, "position": LeftOut.order, "pool_id": LeftOut.inner,
            "pool_account": LeftOut.provider, "password_hash": LeftOut.secret, "sequence": LeftOut.order,
            "refund_failures": LeftOut.inner, "refund_after": LeftOut.inner, "has_money": LeftOut.inner,
        ]
    )

    static let dropClaims = ExportTable(
        "drop_slots",
        title: "drop_claims",
        where: "claimant_id = {person}",
        keys: [.init("drop_id", "uuid")],
        shown: ["drop_id", "state", "transfer_id", "claimed_at"],
        leftOut: ["claimant_id": LeftOut.person, "position": LeftOut.order]
    )

    static let paymentRequests = ExportTable(
        "payment_requests",
        where: "owner_id = {person}",
        keys: [.init("position", "bigint")],
        isIndexed: true,
        shown: [
            "id", "amount", "link", "state", "transfer_id", "expires_at", "created_at", "ended_at", "image_key",
            "reference", "multiple", "paid_count", "paid_total",
        ],
        sealed: [.init("description", field: SealedText.requestDescription)],
        computed: [("payer_username", "SELECT u.username FROM users u WHERE u.id = mine.payer_id")],
        leftOut: [
            "owner_id": LeftOut.person, "payer_id": LeftOut.others, "position": LeftOut.order,
            "sequence": LeftOut.order,
        ]
    )

    /// What was cancelled is not the payer's to see, as in the app.
    static let paymentRequestsAsked = ExportTable(
        "payment_requests",
        title: "payment_requests_asked",
        where: "payer_id = {person} AND state <> 'cancelled'",
        keys: [.init("position", "bigint")],
        isIndexed: true,
        shown: [
            "id", "amount", "link", "state", "transfer_id", "expires_at", "created_at", "ended_at", "image_key",
            "reference",
        ],
        sealed: [.init("description", field: SealedText.requestDescription, of: "owner_id")],
        computed: [("owner_username", "SELECT u.username FROM users u WHERE u.id = mine.owner_id")],
        leftOut: [
            "owner_id": LeftOut.others, "payer_id": LeftOut.person, "position": LeftOut.order,
            "sequence": LeftOut.order, "multiple": "the owner's", "paid_count": "the owner's",
            "paid_total": "the owner's",
        ]
    )
}
