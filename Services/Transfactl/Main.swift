import ArgumentParser

/// Drives and examines a running Transfa from outside, as its clients and operators would.
@main
struct Transfactl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transfactl",
        abstract: "Drives and examines a running Transfa.",
        discussion: """
            Addresses and the internal token come from the environment; scripts/run writes .run/transfactl.env. Exit codes: \
            0 done, and as it should be; 1 not as it should be; 2 refused, unreachable or unreadable; 4 no such thing; 64 \
            bad command line.
            """,
        subcommands: [],
        groupedSubcommands: [
            CommandGroup(
                name: "Looking and repairing:",
                subcommands: [
                    HealthCommand.self, EventsCommand.self, ReplayCommand.self, ParkedCommand.self, JobsCommand.self,
                    OutboxCommand.self, AuditCommand.self,
                ]
            ),
            CommandGroup(
                name: "People and money:",
                subcommands: [
                    RestrictCommand.self, UnrestrictCommand.self, UserCommand.self, ReconcileCommand.self,
                    SuspenseCommand.self, RecoveryCommand.self, WalletsCommand.self, DisputeCommand.self,
                    TransfersCommand.self,
                ]
            ),
            CommandGroup(
                name: "Releases:",
                subcommands: [ContractsCommand.self, MigrateCommand.self, TopologyCommand.self]
            ),
            CommandGroup(
                name: "Local work:",
                subcommands: [
                    DevCommand.self, JourneyCommand.self, SandboxCommand.self, PayCommand.self, TokenCommand.self,
                ]
            ),
        ]
    )
}
