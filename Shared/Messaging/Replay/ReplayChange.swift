public import Foundation
import Primitives

/// Something that handling events again would change.
public struct ReplayChange: Sendable, Encodable {
    /// What is changed.
    public enum Kind: String, Sendable, Encodable {
        /// A row of the service.
        case row
        /// An event it publishes.
        case event
        /// A job it asks for.
        case job
    }

    /// How.
    public enum Change: String, Sendable, Encodable {
        /// A row is new.
        case inserted
        /// A row has other values.
        case updated
        /// A row goes.
        case deleted
        /// An event or a job that the first handling did not have.
        case added
        /// An event or a job that says something else.
        case changed
        /// An event or a job of the first handling that would not be there.
        case missing
    }

    /// What is changed.
    public let kind: Kind
    /// How.
    public let change: Change
    /// The table, or the kind of event or job.
    public let name: String
    /// The primary key, the subject, or the job's key.
    public let key: String
    /// Whether later events have written the row since: then it may differ because of them.
    public let isOvertaken: Bool?
    /// The events that were handled.
    public let causedBy: [UUID]
    let before: [String: JSONValue]?
    let after: [String: JSONValue]?

    private enum CodingKeys: String, CodingKey {
        case kind, change, name, key, before, after
        case isOvertaken = "is_overtaken"
        case causedBy = "caused_by"
    }

    /// Values are made fit to be shown.
    init(
        _ kind: Kind,
        _ change: Change,
        _ name: String,
        key: String,
        before: [String: JSONValue]? = nil,
        after: [String: JSONValue]? = nil,
        isOvertaken: Bool = false,
        causedBy: [UUID]
    ) {
        self.kind = kind
        self.change = change
        self.name = name
        self.key = JSONValue.string(key).shown.text ?? ""
        self.before = before?.mapValues(\.unfolded.shown)
        self.after = after?.mapValues(\.unfolded.shown)
        self.isOvertaken = isOvertaken ? true : nil
        self.causedBy = causedBy
    }

    /// Ids in lower case.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.kind, forKey: .kind)
        try container.encode(self.change, forKey: .change)
        try container.encode(self.name, forKey: .name)
        try container.encode(self.key, forKey: .key)
        try container.encodeIfPresent(self.before, forKey: .before)
        try container.encodeIfPresent(self.after, forKey: .after)
        try container.encodeIfPresent(self.isOvertaken, forKey: .isOvertaken)
        try container.encode(self.causedBy.map(\.lowercased), forKey: .causedBy)
    }
}
