import Foundation

extension Endpoint {
    /// A member of a body that is a text of its sender's own words, or of any letters.
    struct FreeText: Sendable {
        let pointer: String
        /// Whether ``PersonText`` is its rule; a password has none.
        let isPersonText: Bool
    }

    /// The free texts of its body: strings that are no words of a list, no form such as an id, and of no alphabet.
    var freeTexts: [FreeText] { self.body.map { Self.freeTexts(of: $0, at: "") } ?? [] }

    private static func freeTexts(of schema: Schema, at pointer: String) -> [FreeText] {
        schema.properties.flatMap { property -> [FreeText] in
            let place = "\(pointer)/\(property.name)"
            let inside = Self.freeTexts(of: property.schema, at: place)
            let tree = property.schema.tree
            guard property.schema.types.contains("string"), tree["enum"] == nil, tree["format"] == nil else {
                return inside
            }
            // What leaves letters out takes all others; an alphabet names those it takes.
            guard let pattern = tree["pattern"]?.text else { return [FreeText(pointer: place, isPersonText: false)] }
            return pattern.hasPrefix("^[^") ? [FreeText(pointer: place, isPersonText: true)] : []
        }
    }

    /// What no text of a person may be, for each of its texts.
    var badTexts: [(pointer: String, json: String)] {
        self.freeTexts.filter(\.isPersonText).flatMap { text in
            Self.notShown.map { (text.pointer, Tree.quoted("Ada Test" + $0 + "person")) }
        }
    }

    /// Hides, turns what follows, joins nothing, piles up, or does not end.
    private static let notShown = [
        "\u{200b}", "\u{ad}", "\u{202e}", "\u{2067}", "\u{2069}", "\u{200d}", "\u{200c}", "\u{34f}", "\u{e0061}",
        "\u{2028}",
        String(repeating: "\u{323}", count: 7),
    ]
}
