import Foundation
import OutgoingHTTP
import TestSupport

/// The cache of one phone, on which several people sign in: it does all that RFC 9111 lets a private cache do.
///
/// Where the standard leaves a choice it takes the bolder one: what says nothing of its age is good for a day (4.2.2),
/// and all tags that it has for an address are sent at once (4.3.1).
struct PrivateCache {
    /// A GET of somebody.
    struct Question: Sendable {
        let url: String
        let asker: String
        var headers: [String: String] = [:]

        /// The value of a header, whatever the case of its name.
        func value(_ name: String) -> String? {
            self.headers.first { $0.key.caseInsensitiveCompare(name) == .orderedSame }?.value
        }
    }

    /// What the asker is shown.
    struct Shown: Sendable {
        enum Way: Sendable {
            /// As the service has answered now.
            case asked
            /// As it is kept, because the service said that it still stands.
            case validated
            /// As it is kept, without a question.
            case unasked
        }

        let reply: Reply
        /// For whom the service has made it.
        let madeFor: String
        let way: Way
    }

    private struct Kept {
        var reply: Reply
        let question: Question
        var since: Date
    }

    private var kept: [String: [Kept]] = [:]
    /// The time of the phone.
    var now = Date()

    /// What may be kept although it says nothing of how long it is good (RFC 9110, 15.1).
    private static let heuristic: Set<Int> = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]
    private static let boldAge: TimeInterval = 86_400

    /// Answers a question from what is kept, or by asking the service.
    mutating func show(
        _ question: Question,
        asking service: (Question) async throws -> Reply
    ) async throws -> Shown {
        let fitting = (self.kept[question.url] ?? []).last { Self.fits($0, question) }
        if let fitting, self.isFresh(fitting) {
            return Shown(reply: fitting.reply, madeFor: fitting.question.asker, way: .unasked)
        }
        let reply = try await service(self.conditional(question, fitting))
        if reply.status == 304 { return try self.stands(reply, question, fitting) }
        self.keep(reply, question)
        return Shown(reply: reply, madeFor: question.asker, way: .asked)
    }

    private func conditional(_ question: Question, _ fitting: Kept?) -> Question {
        var question = question
        let tags = (self.kept[question.url] ?? []).compactMap { $0.reply.header("ETag") }
        if !tags.isEmpty {
            question.headers["If-None-Match"] = tags.joined(separator: ", ")
        } else if let changed = fitting?.reply.header("Last-Modified") {
            question.headers["If-Modified-Since"] = changed
        }
        return question
    }

    /// Freshens what the service says still stands (4.3.4).
    private mutating func stands(_ answer: Reply, _ question: Question, _ fitting: Kept?) throws -> Shown {
        var all = self.kept[question.url] ?? []
        let tag = answer.header("ETag")
        let place = all.lastIndex { kept in
            tag == nil ? kept.question.asker == fitting?.question.asker : kept.reply.header("ETag") == tag
        }
        guard let place else { throw TestFailure("304 for what is not kept: \(question.url)") }
        let names = Set(answer.headers.map { $0.name.lowercased() })
        let headers = all[place].reply.headers.filter { !names.contains($0.name.lowercased()) } + answer.headers
        all[place].reply = Reply(status: all[place].reply.status, body: all[place].reply.body, headers: headers)
        all[place].since = self.now
        self.kept[question.url] = all
        return Shown(reply: all[place].reply, madeFor: all[place].question.asker, way: .validated)
    }

    // MARK: Rules

    private mutating func keep(_ reply: Reply, _ question: Question) {
        let words = Self.directives(reply)
        let isAllowed =
            ["public", "private", "max-age"].contains { words[$0] != nil } || reply.header("Expires") != nil
        guard words["no-store"] == nil, reply.status != 206, isAllowed || Self.heuristic.contains(reply.status) else {
            return
        }
        var all = (self.kept[question.url] ?? []).filter { !Self.fits($0, question) }
        all.append(Kept(reply: reply, question: question, since: self.now))
        self.kept[question.url] = all
    }

    /// Whether the headers that `Vary` names are those of the question that it answered (4.1).
    private static func fits(_ kept: Kept, _ question: Question) -> Bool {
        kept.reply.listed("Vary").allSatisfy { $0 != "*" && kept.question.value($0) == question.value($0) }
    }

    private func isFresh(_ kept: Kept) -> Bool {
        guard Self.directives(kept.reply)["no-cache"] == nil else { return false }
        let age = (kept.reply.header("Age").flatMap { TimeInterval($0) } ?? 0) + self.now.timeIntervalSince(kept.since)
        return age < Self.lifetime(kept.reply, since: kept.since)
    }

    private static func lifetime(_ reply: Reply, since: Date) -> TimeInterval {
        if let text = self.directives(reply)["max-age"] { return TimeInterval(text) ?? 0 }
        let sent = reply.header("Date").flatMap { self.date($0) } ?? since
        if let text = reply.header("Expires") { return self.date(text)?.timeIntervalSince(sent) ?? 0 }
        guard let changed = reply.header("Last-Modified").flatMap({ self.date($0) }) else { return self.boldAge }
        return sent.timeIntervalSince(changed) / 10
    }

    private static func directives(_ reply: Reply) -> [String: String] {
        reply.listed("Cache-Control").reduce(into: [:]) { words, text in
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard let name = parts.first else { return }
            words[name.lowercased()] = parts.count < 2 ? "" : parts[1].trimmingCharacters(in: ["\""])
        }
    }

    private static func date(_ text: String) -> Date? {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
        return format.date(from: text)
    }
}
