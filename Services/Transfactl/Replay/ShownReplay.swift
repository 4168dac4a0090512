import Foundation

/// A replay as people and programs see it.
struct ShownReplay {
    private let item: [String: Any]

    /// Nil when it is none.
    init?(_ item: [String: Any]) {
        guard item["id"] is String, item["state"] is String else { return nil }
        self.item = item
    }

    init(_ answer: Answer) throws(Failure) {
        guard let item = ArchiveClient.object(answer.body), let replay = ShownReplay(item) else {
            throw Failure("\(answer.line) was answered with a body that is no replay.")
        }
        self = replay
    }

    var id: String { self.word("id") }
    var state: String { self.word("state") }
    var isRunning: Bool { self.state == "running" }
    var isDryRun: Bool { self.word("mode") == "dry_run" }
    var error: String? { self.item["error"] as? String }
    var planned: Int { self.number("progress", "planned") }
    var done: Int { self.number("progress", "done") }
    var differing: Int { self.number("counts", "differing") }
    /// Events that took no effect although they should have.
    var troubled: Int { self.number("counts", "refused") + self.number("counts", "failed") }

    /// On one line.
    var text: String {
        "\(self.id)  \(self.word("created_at"))  \(self.word("mode")) into \(self.word("service"))  \(self.state)  "
            + "\(self.done) of \(self.planned)  by \(self.word("operator")): \(self.word("reason"))"
    }

    /// How it ended.
    var result: String {
        let names = self.isDryRun ? ["applied", "failed", "refused"] : ["applied", "known", "refused", "failed"]
        let counts = names.map { name in
            "\(self.number("counts", name)) \(self.isDryRun && name == "applied" ? "tried" : name)"
        }
        let found = self.isDryRun ? "; \(self.differing) differences" : ""
        return "\(self.state): \(self.done) events, \(counts.joined(separator: ", "))\(found)"
            + (self.error.map { " (\($0))" } ?? "")
    }

    /// As one line of JSON.
    var json: String { ShownEvent.text(of: self.item, []) }
    /// As JSON for people.
    var pretty: String { ShownEvent.text(of: self.item, .prettyPrinted) }

    private func word(_ name: String) -> String { self.item[name] as? String ?? "-" }

    private func number(_ group: String, _ name: String) -> Int {
        ((self.item[group] as? [String: Any])?[name] as? NSNumber)?.intValue ?? 0
    }
}

/// Something that a dry run found.
struct ShownChange {
    private let item: [String: Any]

    /// Nil when it is none.
    init?(_ item: [String: Any]) {
        guard item["kind"] is String, item["change"] is String else { return nil }
        self.item = item
    }

    /// As one line of JSON.
    var json: String { ShownEvent.text(of: self.item, []) }

    /// As a difference: a head line, then what goes and what comes.
    var lines: [String] {
        let words = ["change", "kind", "name", "key"].map { self.item[$0] as? String ?? "-" }
        let mark = self.item["is_overtaken"] as? Bool == true ? "  (later events have written it since)" : ""
        let causes = (self.item["caused_by"] as? [String] ?? []).joined(separator: " ")
        return ["@@ \(words.joined(separator: " "))\(mark)  by \(causes)"] + self.columns("before", "-")
            + self.columns("after", "+")
    }

    private func columns(_ side: String, _ sign: String) -> [String] {
        guard let values = self.item[side] as? [String: Any] else { return [] }
        return values.sorted { $0.key < $1.key }.map { name, value in
            let text =
                switch value {
                case let text as String: text
                case is NSNull: "null"
                case is [Any], is [String: Any]: ShownEvent.text(of: value, [])
                default: "\(value)"
                }
            return "\(sign) \(name): \(text)"
        }
    }
}
