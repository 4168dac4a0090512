import ServiceKit

extension Exports {
    /// What customer holds about a person.
    static let customer = Exports(
        [
            Self.users, Self.tierChanges, Self.images, Self.documents, Self.blocks, Self.beneficiaries,
            Self.enquiries, Self.exports,
        ],
        excuses: [
            Excuse("transfers", because: "a copy of what transaction gives, for the histories of profiles")
        ]
    )

    private static let users = ExportTable(
        "users",
        where: "id = {person}",
        shown: [
            "created_at", "updated_at", "username", "account_type", "erased_at", "verification_status",
            "allow_sending", "receiving_preference", "restriction", "plan_until", "who_may_request", "image_key",
            "tier",
        ],
        leftOut: [
            "id": LeftOut.person, "kyc_details": "a copy of what auth gives",
            "kyb_details": "a copy of what auth gives",
            "contact_details": "a copy of what auth gives", "auth_sequence": LeftOut.order,
            "notification_sequence": LeftOut.order, "subscription_sequence": LeftOut.order,
            "anchor_customer_id": LeftOut.provider,
            "restriction_reason": "why an operator acted; it could tell what we look for",
        ]
    )

    private static let tierChanges = ExportTable(
        "tier_changes",
        keys: [.init("number", "integer")],
        shown: ["number", "changed_at", "before", "after"],
        leftOut: [
            "user_id": LeftOut.person, "operator": "an operator's name", "request_id": LeftOut.inner,
            "reason": "an operator's words; they may name others",
        ]
    )

    private static let images = ExportTable(
        "images",
        keys: [.init("key", "text")],
        shown: ["key", "content_type", "is_uploaded", "created_at"],
        leftOut: ["user_id": LeftOut.person]
    )

    private static let documents = ExportTable(
        "documents",
        shown: ["id", "type", "format", "state", "reason", "content_type", "handed_at", "updated_at"],
        leftOut: [
            "user_id": LeftOut.person, "anchor_document_id": LeftOut.provider,
            "content": "the file that the person handed in, kept for a day at most until the bank has it",
        ]
    )

    private static let blocks = ExportTable(
        "blocks",
        keys: [.init("blocked_id", "uuid")],
        shown: ["created_at"],
        computed: [("username", "SELECT u.username FROM users u WHERE u.id = mine.blocked_id")],
        leftOut: ["user_id": LeftOut.person, "blocked_id": LeftOut.others]
    )

    private static let beneficiaries = ExportTable(
        "beneficiaries",
        shown: [
            "id", "bank_code", "bank_name", "status", "reject_reason", "is_default", "created_at", "deleted_at",
        ],
        sealed: [
            .init("account_number", field: Beneficiary.numberField),
            .init("account_name", field: Beneficiary.nameField),
        ],
        leftOut: [
            "user_id": LeftOut.person, "anchor_counterparty_id": LeftOut.provider, "name_accepted": LeftOut.inner,
            "number_index": "a keyed hash of the number, which is given",
        ]
    )

    private static let enquiries = ExportTable(
        "name_enquiries",
        shown: ["id", "bank_code", "bank_name", "status", "reject_reason", "created_at"],
        sealed: [.init("account_number", field: Beneficiary.numberField)],
        leftOut: ["user_id": LeftOut.person, "account_name": "the name of whoever has the account"]
    )

    private static let exports = ExportTable(
        "exports",
        shown: ["id", "state", "requested_at", "size", "reason", "ready_at", "expires_at", "ended_at"],
        leftOut: ["user_id": LeftOut.person, "place": LeftOut.inner, "parts": LeftOut.inner]
    )
}
