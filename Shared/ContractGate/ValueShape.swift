/// What a value looks like on the wire.
public indirect enum ValueShape: Sendable, Hashable {
    /// A text; a format says more of it, such as `uuid`, or `sealed` for personal data that is encrypted.
    case text(format: String?)
    /// A text, usually one of these words; others may come and are kept.
    case words([String])
    /// A whole number of a format, such as `int64`.
    case integer(format: String)
    /// A flag.
    case boolean
    /// An array.
    case list(ValueShape)
    /// An object; members that are not named may come.
    case object([FieldShape])
    /// What this version does not read: such a schema is compared as it stands.
    case other(JSONNode)

    /// What people call it.
    var name: String {
        switch self {
        case .text(let format): format.map { "text (\($0))" } ?? "text"
        case .words: "word"
        case .integer(let format): "number (\(format))"
        case .boolean: "flag"
        case .list(let element): "list of \(element.name)"
        case .object: "object"
        case .other: "schema"
        }
    }
}

/// A member of an object.
public struct FieldShape: Sendable, Hashable {
    /// As it stands on the wire.
    public let name: String
    /// What it holds.
    public let shape: ValueShape
    /// Whether a reader refuses the object without it.
    public let isRequired: Bool

    /// Puts the values together.
    public init(_ name: String, _ shape: ValueShape, isRequired: Bool = true) {
        self.name = name
        self.shape = shape
        self.isRequired = isRequired
    }
}
