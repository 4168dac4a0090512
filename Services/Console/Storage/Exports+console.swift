import ServiceKit

extension Exports {
    /// What console holds about a person: that something was told about them, and when.
    ///
    /// The archive has no key, so it cannot open what is personal in an event; it is what the services gave away, and
    /// they give it themselves.
    static let console = Exports(
        [
            ExportTable(
                "archived_events",
                where: "subject = {person}::text",
                isIndexed: true,
                shown: ["id", "time", "source", "type"],
                leftOut: [
                    "position": LeftOut.order, "stored_at": LeftOut.inner, "sequence": LeftOut.order,
                    "correlation_id": LeftOut.inner, "causation_id": LeftOut.inner, "subject": LeftOut.person,
                    "origin": LeftOut.inner, "refs": LeftOut.others,
                    "body":
                        "what the service that is its source gives; personal data in it is sealed, also from us here",
                ]
            )
        ],
        excuses: [
            Excuse("replay_problems", because: "events of the archive that an operator had handled again in vain")
        ]
    )
}
