/// A function file, taken apart.
struct FunctionScript: Sendable {
    /// The set and the file name.
    let title: String
    /// Each makes one function or procedure, or replaces it.
    let definitions: [String]
    /// What comes after all functions of the set: rights, comments, triggers.
    let rest: [String]

    /// - Throws: `MigrationError` when a function could not be replaced.
    init(title: String, text: String) throws(MigrationError) {
        let statements = SQLStatement.all(in: text)
        let definitions = statements.filter(\.isDefinition)
        guard definitions.allSatisfy(\.isRepeatable) else { throw MigrationError(.notRepeatable, title) }
        self.title = title
        self.definitions = definitions.map(\.text)
        self.rest = statements.filter { !$0.isDefinition }.map(\.text)
    }
}
