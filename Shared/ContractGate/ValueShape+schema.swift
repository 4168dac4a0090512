/// JSON Schema, as AsyncAPI takes it (draft 07): what is written here is read back as the same shape.
extension ValueShape {
    private static let words = "x-known-words"

    /// The schema of such a value.
    public var schema: JSONNode {
        switch self {
        case .text(let format): format.map { ["type": "string", "format": .text($0)] } ?? ["type": "string"]
        case .words(let words): ["type": "string", "x-known-words": .texts(words)]
        case .integer(let format): ["type": "integer", "format": .text(format)]
        case .boolean: ["type": "boolean"]
        case .list(let element): ["type": "array", "items": element.schema]
        case .object(let fields): Self.schema(of: fields)
        case .other(let schema): schema
        }
    }

    private static func schema(of fields: [FieldShape]) -> JSONNode {
        [
            "type": "object",
            "required": .texts(fields.filter(\.isRequired).map(\.name).sorted()),
            "properties": .object(Dictionary(fields.map { ($0.name, $0.shape.schema) }) { $1 }),
        ]
    }

    /// Reads a schema.
    public init(schema: JSONNode) {
        let known = Self.read(schema)
        self = known?.schema == schema ? known ?? .other(schema) : .other(schema)
    }

    private static func read(_ schema: JSONNode) -> ValueShape? {
        switch schema["type"]?.text {
        case "string": schema[self.words].map { .words($0.texts) } ?? .text(format: schema["format"]?.text)
        case "integer": schema["format"]?.text.map { .integer(format: $0) }
        case "boolean": .boolean
        case "array": schema["items"].map { .list(ValueShape(schema: $0)) }
        case "object": schema["properties"]?.members.map { .object(self.fields($0, schema["required"]?.texts ?? [])) }
        default: nil
        }
    }

    private static func fields(_ properties: [String: JSONNode], _ required: [String]) -> [FieldShape] {
        properties.sorted { $0.key < $1.key }.map { name, schema in
            FieldShape(name, ValueShape(schema: schema), isRequired: required.contains(name))
        }
    }
}
