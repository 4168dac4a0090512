/// Sequences of events in a dry run.
///
/// Handlers guard what they have written by the sequence of the event that said it: handled again, the same event changes
/// nothing, whatever the rule is now. In a dry run events come with sequences so high that every guard is open; what is
/// written is shown with the real ones.
enum RaisedSequence {
    /// Far above all that is counted, and exact as a JSON number.
    static let raise: Int64 = 1 << 52
    private static let raised = raise..<(raise + 1 << 40)

    /// A sequence for a dry run.
    static func of(_ sequence: Int64) -> Int64 { sequence + Self.raise }

    /// A value with the real sequences.
    static func lowered(_ value: JSONValue) -> JSONValue {
        switch value {
        case .integer(let number): Self.raised.contains(number) ? .integer(number - Self.raise) : value
        case .array(let values): .array(values.map(Self.lowered))
        case .object(let members): .object(members.mapValues(Self.lowered))
        case .null, .bool, .number, .string: value
        }
    }

    /// Whether a column holds the sequence of an event.
    static func isColumn(_ name: String) -> Bool { name == "sequence" || name.hasSuffix("_sequence") }
}
