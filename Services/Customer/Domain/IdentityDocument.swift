import AnchorClient
import Foundation
import Primitives

/// A document that the provider wants to see of a user, and how far it is.
struct IdentityDocument: Sendable, Hashable {
    /// In which form it is handed in.
    enum Format: String, Sendable {
        case file
        /// A line of text, such as a number.
        case text
    }

    /// How far it is.
    enum State: String, Sendable {
        case wanted
        /// Handed in, and on its way to the provider.
        case sending
        /// The provider has it.
        case sent
        case approved
        /// To be handed in again.
        case refused
    }

    /// Why it has to be handed in again.
    enum Reason: String, Sendable {
        case refusedByProvider = "refused_by_provider"
        /// The provider could not be reached for a day.
        case notDelivered = "not_delivered"
    }

    let id: UUID
    let user: UserID
    let providerID: String
    var type: String
    var format: Format
    var state = State.wanted
    var reason: Reason?
    /// When it was handed in last.
    var handedAt: Date?

    /// Whether it may be handed in now.
    var isOpen: Bool { self.state == .wanted || self.state == .refused }

    /// Follows what the provider listed when it was asked at a moment.
    ///
    /// What it no longer has, although it had it before, it has refused.
    mutating func follow(_ listed: CustomerDocument, askedAt moment: Date) {
        self.type = listed.type
        self.format = listed.isText ? .text : .file
        if listed.isVerified {
            self.become(.approved)
        } else if self.state == .sending {
            return
        } else if listed.isSubmitted {
            self.become(.sent)
        } else if self.state == .approved || self.state == .sent && (self.handedAt ?? .distantPast) < moment {
            self.become(.refused, .refusedByProvider)
        }
    }

    /// Takes a state; only what is refused has a reason.
    mutating func become(_ state: State, _ reason: Reason? = nil) {
        self.state = state
        self.reason = reason
    }

    /// More than any provider wants of one customer.
    static let limit = 50
}
