/// How a migration stands in a database.
public struct MigrationStanding: Sendable, Hashable {
    /// What the next run would make of it.
    public enum State: String, Sendable {
        /// It is there.
        case applied
        /// It is not there, and would be applied.
        case missing
        /// It is there with another text: the run would be refused.
        case changed
        /// It is not there, but a later one of its set is: the run would be refused.
        case late
        /// It is there, and this version does not know it: a newer one was here.
        case unknown
    }

    /// Whose tables.
    public let set: String
    /// The position within the set.
    public let number: Int
    /// What the file name says after the number.
    public let name: String
    /// How it stands.
    public let state: State

    /// A row of `schema_migrations`.
    struct Known {
        let set: String
        let number: Int
        let name: String
        let hash: String
    }

    /// In the order of application; what only the database knows comes last.
    static func all(of wanted: [(migration: Migration, hash: String)], known: [Known]) -> [MigrationStanding] {
        let newest = Dictionary(known.map { ($0.set, $0.number) }) { max($0, $1) }
        let own = wanted.map { migration, hash in
            let row = known.first { $0.set == migration.set && $0.number == migration.number }
            let state: State =
                if let row {
                    row.hash == hash ? .applied : .changed
                } else {
                    newest[migration.set, default: 0] > migration.number ? .late : .missing
                }
            return MigrationStanding(
                set: migration.set,
                number: migration.number,
                name: migration.name,
                state: state
            )
        }
        let strangers = known.filter { row in
            !wanted.contains { $0.migration.set == row.set && $0.migration.number == row.number }
        }
        return own
            + strangers.map { MigrationStanding(set: $0.set, number: $0.number, name: $0.name, state: .unknown) }
    }
}
