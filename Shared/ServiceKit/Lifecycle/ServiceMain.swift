import CoreMetrics
import Foundation
import Glibc
import Logging
import Postgres

/// What every executable does: read the settings, migrate if asked to, run, and end with a status that says how.
///
/// - `--migrate`: runs the migrations as `MIGRATION_DATABASE_URL`, then the service.
/// - `--migrate-only`: runs the migrations and ends.
/// - `--migrate-look`: prints how every migration and every set of functions stands in the database, as a JSON object
///   in a line each, and ends.
/// - `--settings`: prints the documented settings and ends.
/// - `--check`: reads the shared settings and says which ones production refuses, and ends.
/// - `--version`: prints the version and ends.
///
/// Status 0 after a graceful shutdown, 78 for a configuration problem (one line on standard error names the variable; in
/// production one line for each that is too weak), 64 for an unknown argument, 70 when the service failed.
public enum ServiceMain {
    static let unknownArgument: Int32 = 64
    static let failed: Int32 = 70

    private static let known: Set<String> = [
        "--migrate", "--migrate-only", "--migrate-look", "--settings", "--check", "--version",
    ]

    /// Runs a service and ends the process.
    public static func run(
        _ definition: ServiceDefinition,
        arguments: [String] = CommandLine.arguments
    ) async -> Never {
        // Before any thread starts: a peer that leaves must not end the process.
        signal(SIGPIPE, SIG_IGN)
        ProcessMetrics.begin()
        exit(await Self.status(definition, arguments: Array(arguments.dropFirst()), reader: .environment()))
    }

    static func status(
        _ definition: ServiceDefinition,
        arguments: [String],
        reader: SettingsReader
    ) async -> Int32 {
        if let unknown = arguments.first(where: { !Self.known.contains($0) }) {
            Self.say("\(definition.name): unknown argument \(unknown)")
            return Self.unknownArgument
        }
        if let text = Self.information(definition, arguments: arguments) {
            FileHandle.standardOutput.write(Data((text + "\n").utf8))
            return 0
        }
        do {
            try await Self.start(definition, arguments: arguments, reader: reader)
            return 0
        } catch let problems as ConfigurationProblems {
            for problem in problems.all { Self.say("\(definition.name): \(problem)") }
            return ConfigurationProblem.exitStatus
        } catch let problem as ConfigurationProblem {
            Self.say("\(definition.name): \(problem)")
            return ConfigurationProblem.exitStatus
        } catch let error as MigrationError {
            Self.say("\(definition.name): migration failed: \(error)")
            return Self.failed
        } catch {
            Self.say("\(definition.name): failed: \(SafeErrorText.describe(error))")
            return Self.failed
        }
    }

    private static func information(_ definition: ServiceDefinition, arguments: [String]) -> String? {
        if arguments.contains("--version") {
            return "\(definition.name) \(ServiceVersion.text)"
        }
        guard arguments.contains("--settings") else { return nil }
        return definition.settings.map(\.documentation).joined(separator: "\n")
    }

    private static func start(
        _ definition: ServiceDefinition,
        arguments: [String],
        reader: SettingsReader
    ) async throws {
        if arguments.contains("--migrate-look") {
            return try await Self.lookAtMigrations(definition, reader: reader)
        }
        if arguments.contains("--migrate-only") {
            try ProductionGate([.migrationDatabaseURL], profile: try ServiceSettings.profile(reader)).check(reader)
            return try await Self.migrate(definition, reader: reader, logger: Logger(label: definition.name))
        }
        try ProductionGate(definition, profile: try ServiceSettings.profile(reader)).check(reader)
        let settings = try ServiceSettings(service: definition.name, needs: definition.needs, reader: reader)
        if arguments.contains("--check") { return }
        let level = settings.logLevel
        LoggingSystem.bootstrap { JSONLogHandler(label: $0, level: level) }
        let metrics = PrometheusRegistry()
        MetricsSystem.bootstrap(metrics)
        let logger = Logger(label: definition.name)
        if arguments.contains("--migrate") {
            try ProductionGate([.migrationDatabaseURL], profile: settings.profile).check(reader)
            try await Self.migrate(definition, reader: reader, logger: logger)
        }
        let host = try ServiceHost(settings: settings, logger: logger, metrics: metrics)
        let parts: ServiceParts
        do {
            parts = try await definition.build(host)
        } catch {
            await host.close()
            throw error
        }
        try await host.run(parts)
    }

    static func migrate(_ definition: ServiceDefinition, reader: SettingsReader, logger: Logger) async throws {
        let (migrator, url) = try Self.migrator(definition, reader: reader)
        let outcome = try await migrator.run(url: url, logger: logger)
        let counts: Logger.Metadata = [
            "count": .safe(outcome.migrations.count), "functions": .safe(outcome.functions.count),
        ]
        logger.info("migrated", metadata: counts)
    }

    private static func migrator(
        _ definition: ServiceDefinition,
        reader: SettingsReader
    ) throws -> (migrator: Migrator, url: String) {
        let url = try reader.text(.migrationDatabaseURL)
        let migrator = Migrator(
            sets: try definition.schema(),
            variables: [
                "owner": Self.role(of: url) ?? "\(definition.name)_owner",
                "handler": Self.role(of: try reader.optionalText(.databaseURL)) ?? "\(definition.name)_handler",
                "worker": Self.role(of: try reader.optionalText(.workerDatabaseURL)) ?? "\(definition.name)_worker",
            ]
        )
        return (migrator, url)
    }

    private static func lookAtMigrations(_ definition: ServiceDefinition, reader: SettingsReader) async throws {
        let (migrator, url) = try Self.migrator(definition, reader: reader)
        let standing = try await migrator.look(url: url)
        for migration in standing.migrations {
            Self.write { line in
                line.member("set", migration.set)
                line.member("number", Int64(migration.number))
                line.member("name", migration.name)
                line.member("state", migration.state.rawValue)
            }
        }
        for functions in standing.functions {
            Self.write { line in
                line.member("set", functions.set)
                line.member("name", "functions")
                line.member("state", functions.state.rawValue)
            }
        }
    }

    private static func write(_ line: (inout JSONText) -> Void) {
        var text = JSONText()
        text.object(line)
        FileHandle.standardOutput.write(Data(text.bytes) + Data("\n".utf8))
    }

    /// The roles are those that the URLs log in as, so that rights and log-ins cannot drift apart.
    static func role(of url: String?) -> String? {
        guard let url, let scheme = url.range(of: "://"), let at = url[scheme.upperBound...].lastIndex(of: "@") else {
            return nil
        }
        let credentials = url[scheme.upperBound..<at]
        let user = credentials.prefix { $0 != ":" }
        return user.isEmpty ? nil : String(user).removingPercentEncoding
    }

    private static func say(_ line: String) {
        FileHandle.standardError.write(Data((line + "\n").utf8))
    }
}
