import Foundation
import Primitives

/// A problem as a person reports it, checked as far as that needs no database.
struct DisputeDraft: Sendable, Equatable {
    /// What went wrong, by the person's own account.
    enum Reason: String, Sendable, CaseIterable {
        /// The person did not order it.
        case unauthorised
        /// It did not arrive.
        case notReceived = "not_received"
        case wrongAmount = "wrong_amount"
        case wrongRecipient = "wrong_recipient"
        case chargedTwice = "charged_twice"
        case other
    }

    let reason: Reason
    let text: String

    static let longestText = 500

    /// - Throws: `FieldProblem` for the first field that breaks a rule.
    init(reason: String, text: String) throws(FieldProblem) {
        guard let known = Reason(rawValue: reason) else {
            let words = Reason.allCases.map(\.rawValue).joined(separator: ", ")
            throw FieldProblem(pointer: "/reason", detail: "One of \(words).")
        }
        self.reason = known
        self.text = try Self.checked(text, at: "/text")
    }

    /// What both sides write, in its kept form.
    static func checked(_ text: String, at pointer: String) throws(FieldProblem) -> String {
        do throws(PersonText.Problem) {
            return try PersonText.checked(text, 1...Self.longestText)
        } catch {
            throw FieldProblem(
                pointer: pointer,
                detail: "One line of 1 to \(Self.longestText) characters, all of which show."
            )
        }
    }
}

/// A reported problem as it stands.
struct Dispute: Sendable {
    let id: UUID
    let transaction: UUID
    let user: UUID
    let reason: String
    /// Sealed with the person's key.
    let description: String
    /// `open`, `answered` or `closed`.
    let state: String
    let openedAt: Date
    /// When it must have been answered.
    let dueAt: Date
    /// Sealed with the person's key.
    let answer: String?
    let answeredAt: Date?
    let outcome: String?
    let closedAt: Date?
}

/// Why a dispute is not opened, answered or closed.
enum DisputeRefusal: String, Error, CaseIterable {
    case unknown
    case open = "dispute_open"
    case tooMany = "too_many_disputes"
    case closed = "dispute_closed"
}
