import ServiceKit

extension Exports {
    /// What account holds about a person.
    static let account = Exports([
        ExportTable(
            "accounts",
            shown: [
                "id", "created_at", "updated_at", "account_type", "verified_at", "erased_at", "status", "bank_name",
                "opened_at",
            ],
            sealed: [
                .init("account_number", field: DepositWallet.numberField),
                .init("account_name", field: DepositWallet.nameField),
            ],
            leftOut: [
                "user_id": LeftOut.person, "anchor_customer_id": LeftOut.provider,
                "anchor_account_id": LeftOut.provider, "customer_sequence": LeftOut.order, "swept_at": LeftOut.inner,
                "listed_at": LeftOut.inner,
            ]
        ),
        ExportTable(
            "inbound_payments",
            keys: [.init("credited_at", "timestamptz"), .init("payment_id", "uuid")],
            isIndexed: true,
            shown: ["payment_id", "amount", "reference", "paid_at", "credited_at"],
            leftOut: [
                "user_id": LeftOut.person, "provider_payment_id": LeftOut.provider,
                "anchor_account_id": LeftOut.provider, "provider_reference": LeftOut.provider,
            ]
        ),
    ])
}
