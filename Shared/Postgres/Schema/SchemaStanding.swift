/// How a database stands: what `Migrator.run` would find there.
public struct SchemaStanding: Sendable, Hashable {
    /// Every migration of the migrator or of the database.
    public let migrations: [MigrationStanding]
    /// Every set that has functions, in the migrator or in the database.
    public let functions: [FunctionStanding]
}
