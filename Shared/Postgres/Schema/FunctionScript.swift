/// A function file, taken apart.
struct FunctionScript: Sendable {
    /// The set and the file name.
    let title: String
    /// What comes before all functions of the set: types.
    let types: [String]
    /// Each makes one function or procedure, or replaces it.
    let definitions: [String]
    /// What comes after all functions of the set: rights, comments, triggers.
    let rest: [String]

    /// - Throws: `MigrationError` when a function could not be replaced.
    init(_ file: FunctionFile, title: String, text: String) throws(MigrationError) {
        let statements = SQLStatement.all(in: text)
        let definitions = statements.filter(\.isDefinition)
        guard definitions.allSatisfy(\.isRepeatable) else { throw MigrationError(.notRepeatable, title) }
        let others = statements.filter { !$0.isDefinition }.map(\.text)
        self.title = title
        self.definitions = definitions.map(\.text)
        self.types = file.name == "types.sql" ? others : []
        self.rest = file.name == "types.sql" ? [] : others
    }
}
