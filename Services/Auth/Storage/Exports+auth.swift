import ServiceKit

extension Exports {
    /// What auth holds about a person.
    static let auth = Exports(
        [Self.users, Self.pins, Self.devices],
        excuses: [
            Excuse("ended_sessions", because: "random numbers, so that a session that is over approves nothing"),
            Excuse("data_keys", because: "opens all that is sealed of the person, here and in every copy"),
            Excuse("pin_tries", because: "tries of a PIN, kept for a day, so that none counts twice"),
        ]
    )

    private static let users = ExportTable(
        "users",
        where: "id = {person}",
        shown: [
            "clerk_subject", "username", "account_type", "status", "erased_at", "created_at", "updated_at",
            "verification_status", "verification_reason", "refusal", "restriction", "closed_at",
        ],
        sealed: [
            .init("kyc_details", field: DetailField.kyc, isJSON: true),
            .init("kyb_details", field: DetailField.kyb, isJSON: true),
            .init("contact_details", field: DetailField.contact, isJSON: true),
        ],
        leftOut: [
            "id": LeftOut.person,
            "notification_sequence": LeftOut.order, "customer_sequence": LeftOut.order,
            "details_sequence": LeftOut.order, "restriction_sequence": LeftOut.order,
            "identity_index": "a keyed hash of the BVN, which is given", "erasure_asked_at": LeftOut.inner,
            "registration_index": "a keyed hash of the registration number, which is given",
            "erasure_cleared_at": LeftOut.inner, "erasure_proposed_by": "an operator's name",
            "erasure_proposed_at": LeftOut.inner,
        ]
    )

    private static let pins = ExportTable(
        "pins",
        keys: [.userID],
        shown: ["failed_attempts", "lockouts", "locked_until", "updated_at"],
        leftOut: ["user_id": LeftOut.person, "hash": LeftOut.secret]
    )

    private static let devices = ExportTable(
        "devices",
        shown: ["id", "activated_at", "revoked_at"],
        sealed: [.init("name", field: Device.nameField)],
        leftOut: ["user_id": LeftOut.person, "public_key": "checks approvals; the device itself has it"]
    )
}
