import ServiceKit

extension Exports {
    /// What analytics holds about a person.
    static let analytics = Exports(
        [
            ExportTable(
                "movements",
                where: "user_id = {person} AND generation = (SELECT live FROM projections WHERE name = 'money')",
                keys: [.init("day", "date"), .init("fact_id", "uuid"), .init("direction", "text")],
                isIndexed: true,
                shown: ["fact_id", "direction", "amount", "category", "day"],
                computed: [("username", "SELECT n.username FROM names n WHERE n.user_id = mine.counterparty_id")],
                leftOut: [
                    "user_id": LeftOut.person, "generation": LeftOut.inner, "part": LeftOut.inner,
                    "counterparty_id": LeftOut.others,
                ]
            ),
            ExportTable(
                "chosen_categories",
                keys: [.init("transaction_id", "uuid")],
                isIndexed: true,
                shown: ["transaction_id", "category", "updated_at"],
                leftOut: ["user_id": LeftOut.person]
            ),
        ],
        excuses: [
            Excuse("day_totals", because: "sums of the movements, which are given"),
            Excuse("day_categories", because: "sums of the movements, which are given"),
            Excuse("names", because: "a copy of the name, which auth gives"),
        ]
    )
}
