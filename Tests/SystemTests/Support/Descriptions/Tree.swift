import Foundation
import TestSupport
import Yams

/// A JSON value whose members keep their order, and that may hold text which is not JSON at all.
indirect enum Tree: Sendable, Equatable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case text(String)
    case list([Tree])
    case object([Member])
    /// Written as it stands.
    case raw(String)

    struct Member: Sendable, Equatable {
        let name: String
        var value: Tree
    }

    /// Reads a YAML file.
    init(yamlFile path: String) throws {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        guard let node = try Yams.compose(yaml: text) else { throw TestFailure("\(path) is empty") }
        self = Tree(node)
    }

    private init(_ node: Node) {
        switch node {
        case .mapping(let mapping):
            self = .object(mapping.map { Member(name: $0.key.string ?? "", value: Tree($0.value)) })
        case .sequence(let sequence): self = .list(sequence.map { Tree($0) })
        case .scalar(let scalar): self = scalar.style == .plain ? Tree(plain: scalar.string) : .text(scalar.string)
        case .alias: self = .null
        }
    }

    /// What a scalar without quotes means in YAML's core schema.
    private init(plain text: String) {
        switch text {
        case "", "~", "null": self = .null
        case "true": self = .bool(true)
        case "false": self = .bool(false)
        default:
            if let integer = Int64(text) {
                self = .integer(integer)
            } else {
                self = Double(text).map { .number($0) } ?? .text(text)
            }
        }
    }

    // MARK: Reading

    subscript(name: String) -> Tree? { self.members.first { $0.name == name }?.value }

    var members: [Member] {
        guard case .object(let members) = self else { return [] }
        return members
    }

    var elements: [Tree] {
        guard case .list(let elements) = self else { return [] }
        return elements
    }

    var text: String? {
        guard case .text(let text) = self else { return nil }
        return text
    }

    var integer: Int64? {
        guard case .integer(let integer) = self else { return nil }
        return integer
    }

    /// The value at a path of names.
    func value(at path: some Collection<String>) -> Tree? {
        guard let name = path.first else { return self }
        return self[name]?.value(at: path.dropFirst())
    }

    // MARK: Changing

    /// The same with another value at a path of names; a last name that is not there is added, nil takes it away.
    func setting(_ value: Tree?, at path: some Collection<String>) -> Tree {
        guard let name = path.first else { return value ?? .null }
        var members = self.members
        let index = members.firstIndex { $0.name == name }
        guard path.count > 1 || value != nil else {
            members.removeAll { $0.name == name }
            return .object(members)
        }
        let changed = (index.map { members[$0].value } ?? .object([])).setting(value, at: path.dropFirst())
        if let index {
            members[index].value = changed
        } else {
            members.append(Member(name: name, value: changed))
        }
        return .object(members)
    }

    // MARK: Writing

    /// The JSON text.
    var json: String {
        switch self {
        case .null: "null"
        case .bool(let flag): flag ? "true" : "false"
        case .integer(let integer): String(integer)
        case .number(let number): String(number)
        case .text(let text): Self.quoted(text)
        case .list(let elements): "[" + elements.map(\.json).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { Self.quoted($0.name) + ":" + $0.value.json }.joined(separator: ",") + "}"
        case .raw(let text): text
        }
    }

    static func quoted(_ text: String) -> String {
        let units = text.unicodeScalars.map { scalar in
            switch scalar {
            case "\"": "\\\""
            case "\\": "\\\\"
            case "\u{0}"..<"\u{20}": String(format: "\\u%04x", scalar.value)
            default: String(scalar)
            }
        }
        return "\"" + units.joined() + "\""
    }
}
