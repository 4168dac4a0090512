import Foundation

/// An event of the archive as people and programs see it.
struct ShownEvent {
    /// All that the archive says about it.
    private let item: [String: Any]
    private let event: [String: Any]

    /// Nil when it is none.
    init?(_ item: Any) {
        guard let item = item as? [String: Any], let event = item["event"] as? [String: Any] else { return nil }
        self.item = item
        self.event = event
    }

    /// On one line: when, what, by whom, about what, which.
    var text: String {
        let words = ["time", "type", "source", "subject"].map { self.event[$0] as? String ?? "-" }
        return "\(words.joined(separator: "  "))  #\(self.event["sequence"] ?? "-")  \(self.event["id"] ?? "-")"
    }

    /// As one line of JSON.
    var json: String { Self.text(of: self.item, []) }

    /// As JSON for people.
    var pretty: String { Self.text(of: self.item, .prettyPrinted) }

    static func text(of object: Any, _ options: JSONSerialization.WritingOptions) -> String {
        let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes, options]
        let data = try? JSONSerialization.data(withJSONObject: object, options: options)
        return String(decoding: data ?? Data(), as: UTF8.self)
    }
}
