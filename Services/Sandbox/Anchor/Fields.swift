/// Reads fields of a request and refuses in the provider's words what is missing or has the wrong form.
struct Fields {
    let json: JSON
    let name: String

    init(_ json: JSON, name: String = "") {
        self.json = json
        self.name = name
    }

    private func path(_ key: String) -> String { self.name.isEmpty ? key : "\(self.name).\(key)" }

    func text(_ key: String) throws(Refusal) -> String {
        guard let text = self.json[key]?.text, text.contains(where: { !$0.isWhitespace }) else {
            throw .badRequest("\(self.path(key)) must not be blank")
        }
        return text
    }

    func object(_ key: String) throws(Refusal) -> Fields {
        guard let value = self.json[key], value.members != nil else {
            throw .badRequest("\(self.path(key)) must not be null")
        }
        return Fields(value, name: self.path(key))
    }

    func list(_ key: String) throws(Refusal) -> [Fields] {
        guard let items = self.json[key]?.items, !items.isEmpty else {
            throw .badRequest("\(self.path(key)) must not be empty")
        }
        return items.enumerated().map { Fields($0.element, name: "\(self.path(key))[\($0.offset)]") }
    }

    func digits(_ key: String, count: Int) throws(Refusal) -> String {
        let text = try self.text(key)
        guard text.utf8.count == count else {
            throw .badRequest("\(self.path(key)) size must be between \(count) and \(count)")
        }
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw .badRequest("\(self.path(key)) must be \(count) digits")
        }
        return text
    }

    /// 11 digits that begin with 0; the international form is refused.
    func phone(_ key: String) throws(Refusal) -> String {
        let text = try self.digits(key, count: 11)
        guard text.hasPrefix("0") else { throw .badRequest("\(self.path(key)) is not a valid phone number") }
        return text
    }

    func email(_ key: String) throws(Refusal) -> String {
        let text = try self.text(key)
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, parts[1].contains(".") else {
            throw .badRequest("\(self.path(key)) must be a well-formed email address")
        }
        return text
    }

    func date(_ key: String) throws(Refusal) -> String {
        let text = try self.text(key)
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        let isDate = parts.map(\.utf8.count) == [4, 2, 2] && parts.allSatisfy { Int($0) != nil }
        guard isDate, (1...12).contains(Int(parts[1]) ?? 0), (1...31).contains(Int(parts[2]) ?? 0) else {
            throw .badRequest("\(self.path(key)) must be a date of the form YYYY-MM-DD")
        }
        return text
    }

    func word(_ key: String, of words: [String]) throws(Refusal) -> String {
        let text = try self.text(key)
        guard words.contains(text) else {
            throw .badRequest("\(self.path(key)) must be one of \(words.joined(separator: ", "))")
        }
        return text
    }

    /// The id of a relationship.
    func link(_ key: String) throws(Refusal) -> (id: String, type: String) {
        guard let data = self.json[key]?["data"], let id = data["id"]?.text, let type = data["type"]?.text else {
            throw .badRequest("relationships.\(key) must not be null")
        }
        return (id, type)
    }
}

/// A request's `{data: {type, attributes, relationships}}`.
struct Document {
    let type: String
    let attributes: Fields
    let relationships: Fields

    init(_ body: [UInt8]) throws(Refusal) {
        guard let json = JSON(parsing: body) else { throw .badRequest("Malformed JSON request") }
        guard let data = json["data"], let type = data["type"]?.text else {
            throw .badRequest("data.type must not be null")
        }
        self.type = type
        self.attributes = Fields(data["attributes"] ?? [:])
        self.relationships = Fields(data["relationships"] ?? [:])
    }
}
