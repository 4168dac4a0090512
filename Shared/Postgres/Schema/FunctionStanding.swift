/// How the functions of a set stand in a database.
public struct FunctionStanding: Sendable, Hashable {
    /// What the next run would make of them.
    public enum State: String, Sendable {
        /// They are there.
        case applied
        /// The set has none there, and they would be applied.
        case missing
        /// They were applied with another text, or before a migration of their set: they would be applied again.
        case outdated
        /// A newer version migrated this database: they would be left as they are.
        case newer
    }

    /// Whose functions.
    public let set: String
    /// How they stand.
    public let state: State

    /// What this version has.
    struct Wanted {
        let set: String
        /// The number of the last migration.
        let newest: Int
        /// The hash of all files; nil without any.
        let hash: String?
    }

    /// A row of `schema_functions`.
    struct Known {
        let set: String
        let hash: String
        /// The last migration of the set when its functions were applied.
        let newest: Int
        /// The names with the types of their arguments.
        let functions: [String]
    }

    /// The sets that have functions here or there.
    ///
    /// The sets of a database come from one program: when one of them is newer there, the functions of all are.
    static func all(of wanted: [Wanted], known: [Known], migrated: [String: Int]) -> [FunctionStanding] {
        let rows = Dictionary(known.map { ($0.set, $0) }) { first, _ in first }
        let isNewer = wanted.contains { max(migrated[$0.set] ?? 0, rows[$0.set]?.newest ?? 0) > $0.newest }
        return wanted.compactMap { set in
            let row = rows[set.set]
            guard row != nil || set.hash != nil else { return nil }
            if isNewer { return FunctionStanding(set: set.set, state: .newer) }
            guard let row else { return FunctionStanding(set: set.set, state: .missing) }
            let isApplied = row.hash == set.hash && row.newest == set.newest
            return FunctionStanding(set: set.set, state: isApplied ? .applied : .outdated)
        }
    }
}
