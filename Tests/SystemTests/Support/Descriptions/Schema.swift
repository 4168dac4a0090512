import Foundation
import Primitives

/// A JSON schema of an `openapi.yaml`, as much of it as the services use.
struct Schema: Sendable {
    /// With its reference followed; what stands beside the reference wins.
    let tree: Tree
    private let document: Tree

    init(_ tree: Tree, in document: Tree) {
        self.document = document
        self.tree = Self.resolved(tree, document)
    }

    /// A schema of the same document.
    func inside(_ tree: Tree) -> Schema { Schema(tree, in: self.document) }

    private static func resolved(_ tree: Tree, _ document: Tree) -> Tree {
        guard let reference = tree["$ref"]?.text else { return tree }
        let path = reference.split(separator: "/").dropFirst().map(String.init)
        let target = Self.resolved(document.value(at: path) ?? .null, document)
        return tree.members.filter { $0.name != "$ref" }.reduce(target) { $0.setting($1.value, at: [$1.name]) }
    }

    // MARK: Objects

    struct Property: Sendable {
        let name: String
        let schema: Schema
        let isRequired: Bool
    }

    var properties: [Property] {
        let required = (self.tree["required"]?.elements ?? []).compactMap(\.text)
        return (self.tree["properties"]?.members ?? []).map {
            Property(name: $0.name, schema: self.inside($0.value), isRequired: required.contains($0.name))
        }
    }

    // MARK: Values

    /// The types it allows.
    var types: Set<String> {
        if let one = self.tree["type"]?.text {
            return [one]
        }
        let several = (self.tree["type"]?.elements ?? []).map { $0.text ?? "null" }
        return several.isEmpty && self.tree["enum"] != nil ? ["string"] : Set(several)
    }

    /// Whether a text keeps all rules.
    func accepts(_ text: String) -> Bool {
        let words = (self.tree["enum"]?.elements ?? []).compactMap(\.text)
        guard words.isEmpty || words.contains(text) else { return false }
        let length = Int64(text.unicodeScalars.count)
        guard length >= self.tree["minLength"]?.integer ?? 0, length <= self.tree["maxLength"]?.integer ?? .max else {
            return false
        }
        if let pattern = self.tree["pattern"]?.text, text.range(of: pattern, options: .regularExpression) == nil {
            return false
        }
        return self.hasFormat(text)
    }

    private func hasFormat(_ text: String) -> Bool {
        switch self.tree["format"]?.text {
        case "uuid": UUID(text: text) != nil
        case "date": CivilDate(text: text) != nil
        case "date-time": Timestamp.parse(text) != nil
        case "email": text.range(of: #"^[^@\s]+@[^@\s]+\.[^@\s]+$"#, options: .regularExpression) != nil
        default: true
        }
    }

    /// Whether a whole number is within the bounds.
    func accepts(_ number: Int64) -> Bool {
        number >= self.tree["minimum"]?.integer ?? .min && number <= self.tree["maximum"]?.integer ?? .max
    }
}
