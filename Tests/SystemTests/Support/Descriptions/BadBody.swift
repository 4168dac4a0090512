import Foundation

/// A body that an endpoint must refuse, and how.
struct BadBody: Sendable {
    var bytes: [UInt8]
    var contentType = "application/json"
    var status = 400
    /// The place that the answer must name; nil for any.
    var pointer: String?

    init(_ text: String, at path: [String]? = nil) {
        self.bytes = Array(text.utf8)
        self.pointer = path.map { $0.map { "/" + $0 }.joined() }
    }
}

extension Endpoint {
    /// Bodies that break its schema at one place, and bodies that are none.
    ///
    /// `more` are rules that a schema cannot say: a pointer, and a value that breaks one there.
    func badBodies(more: [(pointer: String, json: String)] = []) -> [BadBody] {
        guard let body = self.body else { return [] }
        return self.examples.flatMap { example in
            Self.badFields(of: example, body, at: [])
                + more.compactMap { pointer, json in
                    let path = pointer.split(separator: "/").map(String.init)
                    guard example.value(at: path) != nil else { return nil }
                    return BadBody(example.setting(.raw(json), at: path).json, at: path)
                }
        } + (self.examples.first.map { Self.noBodies($0) } ?? [])
    }

    private static func badFields(of whole: Tree, _ schema: Schema, at path: [String]) -> [BadBody] {
        Self.unknownMember(of: whole, schema, at: path)
            + schema.properties.flatMap { property in
                let place = path + [property.name]
                let values = property.schema.badValues + (property.isRequired ? ["null"] : [])
                var bodies = values.map { BadBody(whole.setting(.raw($0), at: place).json, at: place) }
                guard whole.value(at: place) != nil else { return bodies }
                if property.isRequired {
                    bodies.append(BadBody(whole.setting(nil, at: place).json, at: place))
                }
                return bodies + Self.badFields(of: whole, property.schema, at: place)
            }
    }

    /// A member that an object does not have, as a slip in a name makes one.
    private static func unknownMember(of whole: Tree, _ schema: Schema, at path: [String]) -> [BadBody] {
        guard schema.tree["additionalProperties"] == .bool(false) else { return [] }
        let place = path + ["mispelt"]
        return [BadBody(whole.setting(.raw("1"), at: place).json, at: place)]
    }

    /// What cannot be read as an object, and what is no JSON or too much of it.
    private static func noBodies(_ good: Tree) -> [BadBody] {
        let json = good.json
        let first = good.members.first?.name ?? ""
        let texts = [
            "", " ", "{", "[]", "[\(json)]", "null", "true", "5", #""text""#, "{}}", json + json, json + ",",
            "\u{feff}" + json,
            "{\(json.dropFirst().dropLast()),}", "/* c */" + json, "{'a':1}", "{a:1}", "a=1&b=2", "<a/>", "\u{0}",
            String(repeating: "[", count: 30_000), String(repeating: #"{"a":"#, count: 10_000),
            #"{"unknown":\#(String(repeating: "[", count: 40))\#(String(repeating: "]", count: 40)),"#
                + json.dropFirst(),
        ]
        var bodies = texts.map { BadBody($0) }
        let again = json.dropLast() + "," + Tree.quoted(first) + ":" + (good[first] ?? .null).json + "}"
        bodies.append(BadBody(String(again), at: [first]))
        // The same name, written differently.
        let escaped = first.unicodeScalars.map { String(format: "\\u%04x", $0.value) }.joined()
        let disguised = json.dropLast() + ",\"\(escaped)\":" + (good[first] ?? .null).json + "}"
        bodies.append(BadBody(String(disguised), at: [first]))
        return bodies + Self.noUTF8(json) + Self.otherTypes(json) + Self.tooLong(json)
    }

    private static func noUTF8(_ json: String) -> [BadBody] {
        let units: [[UInt8]] = [[0xff], [0xc3], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80]]
        let texts = units.map { Array("{\"unknown\":\"".utf8) + $0 + Array("\",".utf8) + Array(json.utf8).dropFirst() }
        let wide = [UInt8](json.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] })
        return (texts + [[0xff, 0xfe] + wide, wide]).map { bytes in
            var body = BadBody("")
            body.bytes = bytes
            return body
        }
    }

    private static func otherTypes(_ json: String) -> [BadBody] {
        [
            "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/xml",
            "application/json; charset=iso-8859-1", "application/jsonx", "json", ",",
        ].map { type in
            var body = BadBody(json)
            body.contentType = type
            body.status = 415
            return body
        }
    }

    private static func tooLong(_ json: String) -> [BadBody] {
        var body = BadBody(json + String(repeating: " ", count: 64 * 1024))
        body.status = 413
        return [body]
    }
}
