import ArgumentParser

/// Drives and examines a running Transfa from outside, as its clients and operators would.
@main
struct Transfactl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transfactl",
        abstract: "Drives and examines a running Transfa.",
        discussion:
            "Addresses and the internal token come from the environment; scripts/run writes .run/transfactl.env.",
        subcommands: [
            JourneyCommand.self, HealthCommand.self, OutboxCommand.self, UserCommand.self, ReconcileCommand.self,
            SuspenseCommand.self,
        ]
    )
}
