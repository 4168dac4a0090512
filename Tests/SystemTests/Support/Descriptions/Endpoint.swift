import Foundation
import TestSupport

/// One method of one path, as a service's `openapi.yaml` describes it.
struct Endpoint: Sendable, CustomStringConvertible {
    enum Access: String, Sendable {
        case session
        case `internal`
        case dataKeys
        case exports
        case open
    }

    struct Parameter: Sendable {
        let name: String
        /// `path`, `query` or `header`.
        let place: String
        let isRequired: Bool
        let schema: Schema
        /// A good value.
        let example: String?
    }

    let service: String
    let method: String
    let path: String
    let access: Access
    let parameters: [Parameter]
    /// The schema of its body, if it takes one.
    let body: Schema?
    /// Good bodies.
    let examples: [Tree]
    /// Whether a good answer has no end.
    let isStream: Bool

    /// `POST /devices`, as services list their routes.
    var name: String { "\(self.method) \(self.path)" }
    var description: String { "\(self.service): \(self.name)" }
    var isOnInternalPort: Bool {
        ["/internal/", "/health/", "/metrics"].contains { self.path.hasPrefix($0) }
    }

    /// The names of the parameters of its query.
    var queryNames: [String] { self.parameters.filter { $0.place == "query" }.map(\.name) }

    func has(header: String) -> Bool { self.parameters.contains { $0.place == "header" && $0.name == header } }

    /// The path with its parameters filled in.
    func path(with values: [String: String] = [:]) -> String {
        self.parameters.filter { $0.place == "path" }.reduce(self.path) { path, parameter in
            let value = values[parameter.name] ?? "01932f5e-0000-7000-8000-0000000000ff"
            return path.replacingOccurrences(of: "{\(parameter.name)}", with: value)
        }
    }

    /// The path with its parameters filled in, and those of the query that it cannot do without.
    var goodPath: String {
        let query = self.parameters.filter { $0.place == "query" && $0.isRequired }
            .map { "\($0.name)=\($0.example ?? "")" }
        return query.isEmpty ? self.path() : self.path() + "?" + query.joined(separator: "&")
    }
}

extension Endpoint {
    /// All endpoints of a service: its own, and those that every service has on its internal port.
    static func all(of service: String) throws -> [Endpoint] {
        let own = "Services/\(service.prefix(1).uppercased() + service.dropFirst())/openapi.yaml"
        return try [own, "Shared/ServiceKit/openapi.yaml"].flatMap { file in
            try Self.described(in: Tree(yamlFile: Repository.path(file))) { _ in service }
        }
    }

    /// All public endpoints, as clients know them: of the one document behind the gateway, where a tag names the service.
    static func ofClients() throws -> [Endpoint] {
        let document = try Tree(yamlFile: Repository.path("deploy/gateway/openapi.yaml"))
        return try Self.described(in: document) { operation in operation["tags"]?.elements.first?.text ?? "" }
    }

    private static let methods = ["get", "put", "post", "delete", "patch", "options", "head", "trace"]

    private static func described(in document: Tree, of service: (Tree) -> String) throws -> [Endpoint] {
        try (document["paths"]?.members ?? []).flatMap { path in
            try path.value.members.filter { Self.methods.contains($0.name) }.map { operation in
                let shared =
                    (path.value["parameters"]?.elements ?? []) + (operation.value["parameters"]?.elements ?? [])
                let content = operation.value["requestBody"]?["content"]?["application/json"]
                return Endpoint(
                    service: service(operation.value),
                    method: operation.name.uppercased(),
                    path: path.name,
                    access: try Self.access(operation.value["security"] ?? document["security"], at: path.name),
                    parameters: shared.map { Self.parameter(Schema($0, in: document)) },
                    body: (content?["schema"]).map { Schema($0, in: document) },
                    examples: Self.examples(of: content),
                    isStream: operation.value["responses"]?["200"]?["content"]?["text/event-stream"] != nil
                )
            }
        }
    }

    private static func access(_ security: Tree?, at path: String) throws -> Access {
        guard let security, case .list(let choices) = security else {
            throw TestFailure("\(path) does not say who may call it")
        }
        guard let choice = choices.first else { return .open }
        guard let access = choice.members.first.flatMap({ Access(rawValue: $0.name) }) else {
            throw TestFailure("\(path) has an unknown security")
        }
        return access
    }

    private static func parameter(_ reference: Schema) -> Parameter {
        let tree = reference.tree
        return Parameter(
            name: tree["name"]?.text ?? "",
            place: tree["in"]?.text ?? "",
            isRequired: tree["required"] == .bool(true),
            schema: reference.inside(tree["schema"] ?? .object([])),
            example: tree["example"]?.text
        )
    }

    private static func examples(of content: Tree?) -> [Tree] {
        if let one = content?["example"] {
            return [one]
        }
        return (content?["examples"]?.members ?? []).compactMap { $0.value["value"] }
    }
}
