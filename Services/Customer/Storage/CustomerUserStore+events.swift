import Contracts
import Foundation
import Messaging
import Postgres
import Primitives

/// What events of other services say, each fact guarded by the sequence of its newest event. Any event may be the first that
/// mentions a user.
extension CustomerUserStore {
    /// Somebody signed up.
    ///
    /// The name is said once and stays; details that were completed since are newer, also when they were heard before.
    func record(_ event: Event<UserCreated>, in transaction: EventTransaction) async throws {
        let data = event.data
        try await transaction.query(
            """
            INSERT INTO users (id, created_at, updated_at, username, account_type, kyc_details, kyb_details,
                contact_details, email_verified, succeeds, auth_sequence)
            VALUES (\(data.userID), \(transaction.now), \(transaction.now), \(data.username), \(data.accountType.text),
                \(data.kycDetails?.text), \(data.kybDetails?.text), \(data.contactDetails?.text),
                \(data.emailVerified ?? false), \(data.succeeds), \(event.attributes.sequence))
            ON CONFLICT (id) DO UPDATE SET username = excluded.username, updated_at = excluded.updated_at,
                (account_type, kyc_details, kyb_details, contact_details, email_verified, succeeds, auth_sequence) = (
                    SELECT x.account_type, x.kyc_details, x.kyb_details, x.contact_details, x.email_verified,
                        x.succeeds, x.auth_sequence
                    FROM (VALUES
                        (users.account_type, users.kyc_details, users.kyb_details, users.contact_details,
                            users.email_verified, users.succeeds, users.auth_sequence),
                        (excluded.account_type, excluded.kyc_details, excluded.kyb_details, excluded.contact_details,
                            excluded.email_verified, excluded.succeeds, excluded.auth_sequence)
                    ) AS x(account_type, kyc_details, kyb_details, contact_details, email_verified, succeeds,
                        auth_sequence)
                    ORDER BY x.auth_sequence DESC LIMIT 1)
            WHERE users.erased_at IS NULL
            """
        )
    }

    /// Details were completed or corrected.
    func record(_ event: Event<UserDetailsProvided>, in transaction: EventTransaction) async throws {
        let data = event.data
        try await transaction.query(
            """
            INSERT INTO users (id, created_at, updated_at, account_type, kyc_details, kyb_details, contact_details,
                email_verified, succeeds, auth_sequence)
            VALUES (\(data.userID), \(transaction.now), \(transaction.now), \(data.accountType.text),
                \(data.kycDetails?.text), \(data.kybDetails?.text), \(data.contactDetails.text),
                \(data.emailVerified ?? false), \(data.succeeds), \(event.attributes.sequence))
            ON CONFLICT (id) DO UPDATE SET account_type = excluded.account_type, kyc_details = excluded.kyc_details,
                kyb_details = excluded.kyb_details, contact_details = excluded.contact_details,
                email_verified = excluded.email_verified, succeeds = coalesce(excluded.succeeds, users.succeeds),
                auth_sequence = excluded.auth_sequence, updated_at = excluded.updated_at
            WHERE users.auth_sequence < excluded.auth_sequence AND users.erased_at IS NULL
            """
        )
    }

    /// The data key is gone: what is sealed can be dropped, and what is heard later is not kept.
    func record(_ event: Event<UserErased>, in transaction: EventTransaction) async throws {
        try await transaction.query(
            """
            INSERT INTO users (id, created_at, updated_at, erased_at, auth_sequence)
            VALUES (\(event.data.userID), \(transaction.now), \(transaction.now), \(transaction.now),
                \(event.attributes.sequence))
            ON CONFLICT (id) DO UPDATE SET kyc_details = NULL, kyb_details = NULL, contact_details = NULL,
                image_key = NULL, erased_at = coalesce(users.erased_at, excluded.erased_at),
                auth_sequence = greatest(users.auth_sequence, excluded.auth_sequence), updated_at = excluded.updated_at
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

    /// Makes the row of somebody of whom nothing was heard yet.
    func ensure(_ id: UserID, in transaction: EventTransaction) async throws {
        try await transaction.stage(
            """
            INSERT INTO users (id, created_at, updated_at) VALUES (\(id.uuid), \(transaction.now), \(transaction.now))
            ON CONFLICT (id) DO NOTHING
            """
        )
    }
}
