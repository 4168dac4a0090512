/// Lines of the form NAME='value', which a shell can read.
public enum SettingsFile {
    /// The variables as text, sorted by name.
    public static func text(_ variables: [String: String]) -> String {
        variables.sorted { $0.key < $1.key }.map { "\($0)=\(Self.quoted($1))\n" }.joined()
    }

    /// The variables of such a text; of a name that occurs twice the last one counts.
    public static func variables(_ text: String) -> [String: String] {
        var found: [String: String] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            guard let equals = line.firstIndex(of: "=") else { continue }
            var value = line[line.index(after: equals)...]
            if value.count > 1, value.first == "'", value.last == "'" { value = value.dropFirst().dropLast() }
            found[String(line[..<equals])] = String(value.replacing(Self.quoteInside, with: "'"))
        }
        return found
    }

    private static let quoteInside = #"'\''"#

    private static func quoted(_ value: String) -> String { "'\(value.replacing("'", with: Self.quoteInside))'" }
}
