import Foundation
import Primitives

/// Tells what a handler decided from what is new each time it runs: the moment, and ids that it makes.
struct Freshness: Sendable {
    /// When the handlers began to run, by the service's clock.
    let begin: Date

    /// Clocks of processes and of the database differ a little.
    private static let tolerance: TimeInterval = 2

    /// Whether two values say the same.
    func isSame(_ before: JSONValue?, _ after: JSONValue?) -> Bool {
        let (before, after) = (before ?? .null, after ?? .null)
        if before == after { return true }
        switch (before, after) {
        case (.string(let old), .string(let new)):
            return self.isNewMoment(old, new) || self.isNewID(old, new)
        case (.array(let old), .array(let new)):
            return old.count == new.count && zip(old, new).allSatisfy { self.isSame($0, $1) }
        case (.object(let old), .object(let new)):
            return Set(old.keys).union(new.keys).allSatisfy { self.isSame(old[$0], new[$0]) }
        default: return false
        }
    }

    /// Members that do not say the same.
    func differing(_ before: [String: JSONValue], _ after: [String: JSONValue]) -> Set<String> {
        Set(before.keys).union(after.keys).filter { !self.isSame(before[$0], after[$0]) }
    }

    private func isNewMoment(_ old: String, _ new: String) -> Bool {
        guard Timestamp.parse(old) != nil, let moment = Timestamp.parse(new) else { return false }
        return moment >= self.begin.addingTimeInterval(-Self.tolerance)
    }

    private func isNewID(_ old: String, _ new: String) -> Bool {
        guard UUID(text: old) != nil, let made = UUID(text: new)?.version7Milliseconds else { return false }
        return Date(millisecondsSince1970: made) >= self.begin.addingTimeInterval(-Self.tolerance)
    }
}
