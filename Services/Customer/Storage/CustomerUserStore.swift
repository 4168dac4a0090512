import Contracts
import Foundation
import Messaging
import ObjectStorage
import Postgres
import Primitives
import ServiceKit

/// The table `users`.
struct CustomerUserStore: Sendable {
    // MARK: Reading

    /// A user; nil when no event has mentioned one.
    ///
    /// `reader` is the user whose request asks; nil on the worker's connections, which see every row.
    func find(_ id: UserID, as reader: UserID?, on database: EventDatabase) async throws -> CustomerUser? {
        let sql: SQL = "\(Self.columns) WHERE id = \(id.uuid)"
        return try await database.client.query(sql, as: reader?.uuid).first.map(Self.user)
    }

    /// How the profile of whoever asks stands; without a name nobody has signed up yet.
    func state(of id: UserID, on database: EventDatabase) async throws -> ProfileState {
        let sql: SQL = """
            SELECT erased_at IS NOT NULL OR restriction = \(Restriction.closed.rawValue), username IS NOT NULL
            FROM users WHERE id = \(id.uuid)
            """
        guard let row = try await database.client.query(sql, as: id.uuid).first else { return .missing }
        let (isClosed, isNamed) = try row.decode(Bool.self, Bool.self)
        return isClosed ? .closed : isNamed ? .open : .missing
    }

    /// The user with a name, unless erased.
    func find(username: String, on database: EventDatabase) async throws -> CustomerUser? {
        let sql: SQL = "\(Self.columns) WHERE username = \(username) AND erased_at IS NULL LIMIT 1"
        return try await database.client.query(sql).first.map(Self.user)
    }

    /// A user, locked until the transaction ends; nil when there is none.
    func lock(_ id: UserID, in transaction: EventTransaction) async throws -> CustomerUser? {
        try await transaction.query("\(Self.columns) WHERE id = \(id.uuid) FOR UPDATE").first.map(Self.user)
    }

    // MARK: What customer owns

    /// Notes the provider's id.
    func setCustomerID(_ customerID: String, of id: UserID, in transaction: EventTransaction) async throws {
        try await transaction.query(
            "UPDATE users SET anchor_customer_id = \(customerID), updated_at = \(transaction.now) WHERE id = \(id.uuid)"
        )
    }

    /// Replaces the settings.
    func set(_ settings: UserSettings, of id: UserID, in transaction: EventTransaction) async throws {
        try await transaction.query(
            """
            UPDATE users SET allow_sending = \(settings.allowSending),
                receiving_preference = \(settings.receivingPreference.rawValue),
                who_may_request = \(settings.whoMayRequest.rawValue), updated_at = \(transaction.now)
            WHERE id = \(id.uuid)
            """
        )
    }

    /// Replaces the restriction.
    func set(_ order: RestrictionOrder, of id: UserID, in transaction: EventTransaction) async throws {
        try await transaction.query(
            """
            UPDATE users SET restriction = \(order.restriction.rawValue), restriction_reason = \(order.reason),
                updated_at = \(transaction.now)
            WHERE id = \(id.uuid)
            """
        )
    }

    // MARK: Rows

    private static let columns: SQL = """
        SELECT id, username, account_type, kyc_details, kyb_details, contact_details, auth_sequence,
            erased_at IS NOT NULL AS is_erased, verification_status, anchor_customer_id, allow_sending,
            receiving_preference, who_may_request, restriction, image_key, plan_until
        FROM users
        """

    private static func user(_ row: PostgresRow) throws -> CustomerUser {
        let (id, username, type, kyc, kyb, contact, sequence) = try row.decode(
            UUID.self,
            String?.self,
            String?.self,
            String?.self,
            String?.self,
            String?.self,
            Int64.self
        )
        return CustomerUser(
            id: UserID(id),
            username: username,
            accountType: type.map { Open($0) },
            details: SealedDetails(
                kyc: kyc.map { Sealed($0) },
                kyb: kyb.map { Sealed($0) },
                contact: contact.map { Sealed($0) }
            ),
            authSequence: sequence,
            isErased: try row["is_erased"].decode(Bool.self),
            verification: Open(try row["verification_status"].decode(String.self)),
            anchorCustomerID: try row["anchor_customer_id"].decode(String?.self),
            settings: UserSettings(
                allowSending: try row["allow_sending"].decode(Bool.self),
                receivingPreference: ReceivingPreference(rawValue: try row["receiving_preference"].decode())
                    ?? .external,
                whoMayRequest: RequestPolicy(rawValue: try row["who_may_request"].decode()) ?? .everyone
            ),
            restriction: Open(try row["restriction"].decode(String.self)),
            planUntil: try row["plan_until"].decode(Date?.self),
            image: try row["image_key"].decode(String?.self).flatMap { ImageKey(reading: $0) }
        )
    }
}
