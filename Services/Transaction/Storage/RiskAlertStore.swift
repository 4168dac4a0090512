import Contracts
import Foundation
import Messaging
import Postgres
import Primitives

/// What stands out in somebody's payments, for people to look at.
struct RiskAlert: Sendable, Encodable {
    /// What stands out.
    enum Kind: String, Sendable, Encodable {
        /// Paid many people.
        case manyRecipients = "many_recipients"
        /// Was paid by many people.
        case manySenders = "many_senders"
        /// Has sent on most of what came in.
        case passesOn = "passes_on"
        /// Claimed from many drops of one person.
        case manyDrops = "many_drops"
    }

    /// How much there is of it; the kind says what is counted.
    struct Detail: Sendable, Encodable, Equatable {
        private(set) var recipients: Int64?
        private(set) var senders: Int64?
        private(set) var drops: Int64?
        /// In kobo, as what was sent on.
        private(set) var received: Int64?
        private(set) var sent: Int64?

        init(_ kind: Kind, counted: Int64?, received: Int64?, sent: Int64?) {
            switch kind {
            case .manyRecipients: self.recipients = counted
            case .manySenders: self.senders = counted
            case .manyDrops: self.drops = counted
            case .passesOn: (self.received, self.sent) = (received, sent)
            }
        }
    }

    let id: UUID
    let userID: UUID
    let kind: Kind
    let detail: Detail
    let firstSeen: Date
    let lastSeen: Date

    private enum CodingKeys: String, CodingKey {
        case id
        case userID = "user_id"
        case kind
        case detail
        case firstSeen = "first_seen"
        case lastSeen = "last_seen"
    }
}

/// The table `risk_alerts`, which a schedule fills and operators clear.
struct RiskAlertStore: Sendable {
    /// The newest transfers that are looked at.
    private static let newest: Int32 = 50_000

    /// Writes down what stands out among the newest transfers.
    func note(in transaction: EventTransaction) async throws {
        try await transaction.stage("SELECT note_risk_alerts(\(Self.newest))")
    }

    /// Those nobody has looked at, the oldest first.
    func open(limit: Int, on database: EventDatabase) async throws -> [RiskAlert] {
        try await database.client.query(
            """
            SELECT id, user_id, kind, counted, received, sent, first_seen, last_seen FROM risk_alerts
            WHERE state = 'open' ORDER BY first_seen, id LIMIT \(Int64(limit))
            """
        ).map { row in
            let (id, user, word, counted, received, sent, first, last) = try row.decode(
                UUID.self,
                UUID.self,
                String.self,
                Int64?.self,
                Int64?.self,
                Int64?.self,
                Date.self,
                Date.self
            )
            let kind = try Self.kind(word)
            return RiskAlert(
                id: id,
                userID: user,
                kind: kind,
                detail: RiskAlert.Detail(kind, counted: counted, received: received, sent: sent),
                firstSeen: first,
                lastSeen: last
            )
        }
    }

    /// An alert as the audit shows it.
    private struct AuditedAlert: Encodable, Sendable {
        let id: String
        let kind: RiskAlert.Kind
        let detail: RiskAlert.Detail

        private enum CodingKeys: String, CodingKey {
            case id = "risk_alert"
            case kind
            case detail
        }
    }

    /// Notes who has looked and what they found, and records that: `cleared`, or why not.
    func clear(
        _ alert: UUID,
        by order: OperatorOrder,
        in transaction: EventTransaction
    ) async throws -> String {
        let rows = try await transaction.query(
            """
            SELECT result, user_id, kind, counted, received, sent
            FROM clear_risk_alert(\(alert), \(order.name), \(order.reason))
            """
        )
        guard
            let (word, user, found, counted, received, sent) = try rows.first?.decode(
                String.self,
                UUID?.self,
                String?.self,
                Int64?.self,
                Int64?.self,
                Int64?.self
            )
        else { throw LedgerContradiction() }
        if let user {
            let kind = try Self.kind(found ?? "")
            let detail = RiskAlert.Detail(kind, counted: counted, received: received, sent: sent)
            try await transaction.record(
                "risk_alert.cleared",
                on: user.lowercased,
                before: AuditedAlert(id: alert.lowercased, kind: kind, detail: detail),
                after: ["reason": order.reason],
                by: order
            )
        }
        return word
    }

    private static func kind(_ word: String) throws -> RiskAlert.Kind {
        guard let kind = RiskAlert.Kind(rawValue: word) else { throw LedgerContradiction() }
        return kind
    }
}
