/// The values of `${name}` in SQL files, for instance role names.
struct SchemaVariables: Sendable {
    private let values: [String: String]

    /// - Throws: `MigrationError` when a value could end a quoted text.
    init(_ values: [String: String]) throws(MigrationError) {
        for (name, value) in values where value.contains(where: { "'\"\\;$\0\n".contains($0) }) {
            throw MigrationError(.unsafeVariable, name)
        }
        self.values = values
    }

    /// The text with each `${name}` replaced; `subject` is what errors name.
    func substituted(_ sql: String, of subject: String) throws(MigrationError) -> String {
        var rest = sql[...]
        var text = ""
        while let start = rest.firstRange(of: "${") {
            guard let end = rest[start.upperBound...].firstIndex(of: "}") else {
                throw MigrationError(.unknownVariable, "\(subject): a variable without an end")
            }
            let name = String(rest[start.upperBound..<end])
            guard let value = self.values[name] else {
                throw MigrationError(.unknownVariable, "\(subject): \(name)")
            }
            text += rest[..<start.lowerBound] + value
            rest = rest[rest.index(after: end)...]
        }
        return text + rest
    }
}
