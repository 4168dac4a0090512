import Contracts
import Foundation
import Messaging
import Postgres
import Primitives

/// What events of other services say, each group of columns guarded by its source's sequence. Any event may be the first
/// that mentions a user.
extension CustomerUserStore {
    /// Somebody signed up.
    func record(_ event: Event<UserCreated>, in transaction: EventTransaction) async throws {
        let data = event.data
        try await transaction.query(
            """
            INSERT INTO users (id, created_at, updated_at, username, account_type, kyc_details, kyb_details,
                contact_details, auth_sequence)
            VALUES (\(data.userID), \(transaction.now), \(transaction.now), \(data.username), \(data.accountType.text),
                \(data.kycDetails?.text), \(data.kybDetails?.text), \(data.contactDetails?.text),
                \(event.attributes.sequence))
            ON CONFLICT (id) DO UPDATE SET username = excluded.username, account_type = excluded.account_type,
                kyc_details = excluded.kyc_details, kyb_details = excluded.kyb_details,
                contact_details = excluded.contact_details, auth_sequence = excluded.auth_sequence,
                updated_at = excluded.updated_at
            WHERE users.auth_sequence < excluded.auth_sequence
            """
        )
    }

    /// Details were completed or corrected.
    func record(_ event: Event<UserDetailsProvided>, in transaction: EventTransaction) async throws {
        let data = event.data
        try await transaction.query(
            """
            INSERT INTO users (id, created_at, updated_at, account_type, kyc_details, kyb_details, contact_details,
                auth_sequence)
            VALUES (\(data.userID), \(transaction.now), \(transaction.now), \(data.accountType.text),
                \(data.kycDetails?.text), \(data.kybDetails?.text), \(data.contactDetails.text),
                \(event.attributes.sequence))
            ON CONFLICT (id) DO UPDATE SET account_type = excluded.account_type, kyc_details = excluded.kyc_details,
                kyb_details = excluded.kyb_details, contact_details = excluded.contact_details,
                auth_sequence = excluded.auth_sequence, updated_at = excluded.updated_at
            WHERE users.auth_sequence < excluded.auth_sequence AND users.erased_at IS NULL
            """
        )
    }

    /// The data key is gone: what is sealed can be dropped.
    func record(_ event: Event<UserErased>, in transaction: EventTransaction) async throws {
        try await transaction.query(
            """
            INSERT INTO users (id, created_at, updated_at, erased_at, auth_sequence)
            VALUES (\(event.data.userID), \(transaction.now), \(transaction.now), \(transaction.now),
                \(event.attributes.sequence))
            ON CONFLICT (id) DO UPDATE SET kyc_details = NULL, kyb_details = NULL, contact_details = NULL,
                image_key = NULL, erased_at = excluded.erased_at, auth_sequence = excluded.auth_sequence, updated_at = excluded.updated_at
            WHERE users.auth_sequence < excluded.auth_sequence
            """
        )
    }

    /// The provider has a verdict.
    func setVerification(
        _ id: UserID,
        _ status: Open<VerificationStatus>,
        sequence: Int64,
        in transaction: EventTransaction
    ) async throws {
        try await transaction.query(
            """
            INSERT INTO users (id, created_at, updated_at, verification_status, notification_sequence)
            VALUES (\(id.uuid), \(transaction.now), \(transaction.now), \(status.text), \(sequence))
            ON CONFLICT (id) DO UPDATE SET verification_status = excluded.verification_status,
                notification_sequence = excluded.notification_sequence, updated_at = excluded.updated_at
            WHERE users.notification_sequence < excluded.notification_sequence
            """
        )
    }

    /// A paid plan counts until then, grace included; nil: there is none.
    func setPlan(
        _ id: UserID,
        until text: String?,
        sequence: Int64,
        in transaction: EventTransaction
    ) async throws {
        let end = text.flatMap { Timestamp.parse($0) }
        guard (end == nil) == (text == nil) else { throw EventProblem.undecodableData }
        try await transaction.query(
            """
            INSERT INTO users (id, created_at, updated_at, plan_until, subscription_sequence)
            VALUES (\(id.uuid), \(transaction.now), \(transaction.now), \(end), \(sequence))
            ON CONFLICT (id) DO UPDATE SET plan_until = excluded.plan_until,
                subscription_sequence = excluded.subscription_sequence, updated_at = excluded.updated_at
            WHERE users.subscription_sequence < excluded.subscription_sequence
            """
        )
    }
}
