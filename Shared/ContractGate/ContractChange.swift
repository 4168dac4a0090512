/// One difference between two documents of events, and what it means for who listens.
public struct ContractChange: Sendable, Hashable {
    /// Kinds of differences.
    public enum Kind: String, Sendable, CaseIterable {
        /// A kind of event is new.
        case eventAdded = "event_added"
        /// A kind of event is gone.
        case eventRemoved = "event_removed"
        /// Its data has another major version.
        case versionChanged = "version_changed"
        /// Another service publishes it.
        case sourceChanged = "source_changed"
        /// Its subject names something else.
        case subjectChanged = "subject_changed"
        /// It has another routing key.
        case routingKeyChanged = "routing_key_changed"
        /// All events go elsewhere.
        case exchangeChanged = "exchange_changed"
        /// Subjects are spread over more or fewer partitions.
        case partitionsChanged = "partitions_changed"
        /// A service listens that did not.
        case consumerAdded = "consumer_added"
        /// A service listens no more.
        case consumerRemoved = "consumer_removed"
        /// A member is new.
        case fieldAdded = "field_added"
        /// A member is gone.
        case fieldRemoved = "field_removed"
        /// A member holds something else.
        case fieldRetyped = "field_retyped"
        /// A member may no longer be absent.
        case fieldNowRequired = "field_now_required"
        /// A member may be absent.
        case fieldNowOptional = "field_now_optional"
        /// Words are new in an open enumeration.
        case wordsAdded = "words_added"
        /// Words are gone from an open enumeration.
        case wordsRemoved = "words_removed"
    }

    /// Whom a change reaches.
    public enum Effect: Sendable, Hashable {
        /// All go on as before.
        case none
        /// These services do not.
        case breaks([String])
    }

    /// What differs.
    public let kind: Kind
    /// The kind of event; `*` for all.
    public let event: String
    /// A pointer into the message, such as `/data/amount`; empty for the event itself.
    public let place: String
    /// What becomes of who listens.
    public let effect: Effect
    /// The same for people, in a sentence.
    public let text: String

    /// Whether somebody cannot go on.
    public var isBreaking: Bool { self.effect != .none }

    /// Who cannot go on.
    public var consumers: [String] {
        guard case .breaks(let consumers) = self.effect else { return [] }
        return consumers
    }
}
