public import Postgres
public import TestSupport

extension DatabaseTemplate {
    /// What a service's migrations and functions make, run by its owner's role.
    public static func migrated(_ service: String, _ sets: [SchemaSet]) -> DatabaseTemplate {
        let contents = sets.flatMap { set in
            set.migrations.map { "\(set.name) \($0.number) \($0.name)\n\($0.sql)" }
                + set.functions.map { "\(set.name) \($0.name)\n\($0.sql)" }
        }
        return DatabaseTemplate(service, contents: contents) { database in
            let migrator = Migrator(sets: sets, variables: database.migrationVariables)
            try await migrator.run(url: database.ownerURL)
        }
    }
}
