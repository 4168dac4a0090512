import ContractGate
import Contracts
import Foundation
import TestSupport

/// A golden file of the contracts, with the shape of its type and what its decoder says of a text.
struct Golden: Sendable, CustomStringConvertible {
    let definition: EventDefinition

    static let folder = Repository.path("Tests/ContractsTests/Golden")
    static let all = EventCatalogue.all.map(Golden.init)

    var description: String { "\(self.definition.type.rawValue).v\(self.definition.majorVersion)" }

    /// The members of the file.
    func members() throws -> [String: JSONNode] {
        let text = try Data(contentsOf: URL(fileURLWithPath: "\(Self.folder)/\(self).json"))
        guard let members = try JSONNode(json: text).members else { throw TestFailure("\(self) is no object") }
        return members
    }

    /// What the type reads.
    func fields() throws -> [FieldShape] {
        guard case .object(let fields) = try ShapeRecorder.shape(of: self.definition.payload) else {
            throw TestFailure("\(self) is no object")
        }
        return fields
    }

    /// Whether the code takes these members.
    func isRead(_ members: [String: JSONNode]) throws -> Bool {
        let text = try JSONNode.object(members).document()
        return (try? JSONDecoder().decode(self.definition.payload, from: text)) != nil
    }
}

extension ValueShape {
    /// Whether a value is of this shape.
    func accepts(_ value: JSONNode) -> Bool {
        switch (self, value) {
        case (.text(format: "uuid"), .text(let text)): UUID(uuidString: text) != nil
        case (.text, .text), (.words, .text), (.integer, .number), (.boolean, .boolean): true
        case (.list(let element), .list(let values)): values.allSatisfy(element.accepts)
        case (.object(let fields), .object(let members)):
            fields.allSatisfy { field in members[field.name].map(field.shape.accepts) ?? !field.isRequired }
        default: false
        }
    }

    /// Values that are of another shape.
    var strangers: [JSONNode] {
        switch self {
        case .text(format: "uuid"): [5, true, "nobody", [:], []]
        case .text, .words: [5, true, [:], []]
        case .integer: ["five", true, .fraction(1.5), [:], []]
        case .boolean: ["true", 1, [:], []]
        case .list: ["five", 5, [:]]
        case .object: ["five", 5, []]
        case .other: []
        }
    }
}
