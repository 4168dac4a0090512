public import Postgres
public import TestSupport

extension DatabaseTemplate {
    /// What a service's own migrations make, run by its owner's role.
    public static func migrated(_ service: String, _ migrations: [Migration]) -> DatabaseTemplate {
        let contents = migrations.map { "\($0.set) \($0.number) \($0.name)\n\($0.sql)" }
        return DatabaseTemplate(service, contents: contents) { database in
            let migrator = Migrator(migrations: migrations, variables: database.migrationVariables)
            try await migrator.run(url: database.ownerURL)
        }
    }
}
