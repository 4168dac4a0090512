import Contracts
import Foundation
import Messaging
import Postgres
import Primitives
import ServiceKit

/// The table `users`.
struct UserStore: Sendable {
    /// One sign-up per person at a time, until the transaction ends: a double click must not read as a taken username.
    func lockSignUp(_ id: UserID, in transaction: EventTransaction) async throws {
        try await transaction.query("SELECT pg_advisory_xact_lock(hashtextextended(\("sign-up " + id.description), 0))")
    }

    /// Adds a user.
    ///
    /// - Throws: `AuthError.alreadyOnboarded`, `usernameTaken`, `identityInUse`.
    func insert(
        _ user: User,
        marks: IdentityMarks,
        clerkSubject: String,
        in transaction: EventTransaction
    ) async throws {
        let now = transaction.now
        do {
            let rows = try await transaction.query(
                """
                INSERT INTO users (id, clerk_subject, username, account_type, status, kyc_details, kyb_details,
                    contact_details, identity_index, registration_index, created_at, updated_at)
                VALUES (\(user.id.uuid), \(clerkSubject), \(user.username), \(user.accountType.rawValue),
                    \(user.status.rawValue), \(user.details.kyc?.text), \(user.details.kyb?.text),
                    \(user.details.contact?.text), \(marks.bvn), \(marks.registration), \(now), \(now))
                ON CONFLICT (id) DO NOTHING RETURNING id
                """
            )
            guard !rows.isEmpty else { throw AuthError.alreadyOnboarded }
        } catch let error as PostgresError
            where error.isUniqueViolation("users_username_unique") || error.isUniqueViolation("users_username_skeleton")
        {
            throw AuthError.usernameTaken
        } catch let error as PostgresError {
            if let problem = marks.isInUse(by: error) { throw problem }
            throw error
        }
    }

    /// A user; nil before sign-up and after closing.
    func find(_ id: UserID, on database: EventDatabase) async throws -> User? {
        try await database.client.query(Self.select(id), as: id.uuid).first.map { try Self.user(id, $0) }
    }

    /// How the profile of whoever asks stands.
    func state(of id: UserID, on database: EventDatabase) async throws -> ProfileState {
        let sql: SQL = "SELECT num_nonnulls(closed_at, erased_at) > 0 FROM users WHERE id = \(id.uuid)"
        guard let row = try await database.client.query(sql, as: id.uuid).first else { return .missing }
        return try row.decode(Bool.self) ? .closed : .open
    }

    /// Whether somebody has signed up and is not erased.
    func exists(_ id: UserID, in transaction: EventTransaction) async throws -> Bool {
        try await !transaction.query("SELECT 1 FROM users WHERE id = \(id.uuid) AND erased_at IS NULL").isEmpty
    }

    /// A user, locked until the transaction ends.
    ///
    /// - Throws: `AuthError.notOnboarded`.
    func lock(_ id: UserID, in transaction: EventTransaction) async throws -> User {
        guard let row = try await transaction.query(Self.select(id) + " FOR UPDATE").first else {
            throw AuthError.notOnboarded
        }
        return try Self.user(id, row)
    }

    /// Replaces the details; what was wrong with the old ones no longer counts.
    ///
    /// - Throws: `AuthError.identityInUse`.
    func update(
        _ id: UserID,
        details: SealedDetails,
        marks: IdentityMarks,
        status: OnboardingStatus,
        in transaction: EventTransaction
    ) async throws {
        do {
            try await transaction.query(
                """
                UPDATE users SET kyc_details = \(details.kyc?.text), kyb_details = \(details.kyb?.text),
                    contact_details = \(details.contact?.text), status = \(status.rawValue),
                    identity_index = \(marks.bvn), registration_index = \(marks.registration),
                    updated_at = \(transaction.now), refusal = NULL, verification_reason = NULL,
                    verification_status = CASE WHEN verification_status IN ('rejected', 'error') THEN 'pending'
                        ELSE verification_status END
                WHERE id = \(id.uuid)
                """
            )
        } catch let error as PostgresError {
            if let problem = marks.isInUse(by: error) { throw problem }
            throw error
        }
    }

    /// Notes that the event of this user which was published last brought the details that are stored.
    func markDetailsPublished(_ id: UserID, in transaction: EventTransaction) async throws {
        try await transaction.stage(
            """
            UPDATE users
            SET details_sequence = (SELECT s.sequence FROM event_sequences s WHERE s.subject = \(id.description))
            WHERE id = \(id.uuid)
            """
        )
    }

    /// Records what the provider says, unless something newer is known.
    func setVerification(
        _ id: UserID,
        _ status: Open<VerificationStatus>,
        reason: String? = nil,
        sequence: Int64,
        in transaction: EventTransaction
    ) async throws {
        try await transaction.stage(
            """
            UPDATE users SET verification_status = \(status.text), verification_reason = \(reason),
                notification_sequence = \(sequence)
            WHERE id = \(id.uuid) AND notification_sequence < \(sequence)
            """
        )
    }

    /// Records that the provider did not take the details, unless the user has sent others since.
    func setRefusal(_ event: Event<CustomerDetailsRefused>, in transaction: EventTransaction) async throws {
        let sequence = event.attributes.sequence
        try await transaction.stage(
            """
            UPDATE users SET customer_sequence = \(sequence),
                refusal = CASE WHEN details_sequence <= \(event.data.detailsSequence) THEN \(event.data.reason)
                    ELSE refusal END
            WHERE id = \(event.data.userID) AND customer_sequence < \(sequence)
            """
        )
    }

    // MARK: Closing and erasing

    /// Closes a profile; false when there is none, or it was closed or erased before.
    func close(_ id: UserID, in transaction: EventTransaction) async throws -> Bool {
        let rows = try await transaction.query(
            """
            UPDATE users SET closed_at = \(transaction.now), updated_at = \(transaction.now)
            WHERE id = \(id.uuid) AND closed_at IS NULL AND erased_at IS NULL RETURNING id
            """
        )
        return !rows.isEmpty
    }

    /// Takes up to `limit` profiles that were closed before a time and were not taken since another, oldest first.
    func takeForErasure(
        closedBefore closing: Date,
        askedBefore asking: Date,
        limit: Int,
        in transaction: EventTransaction
    ) async throws -> [UserID] {
        try await transaction.query(
            """
            UPDATE users SET erasure_asked_at = \(transaction.now)
            WHERE id = ANY (ARRAY(
                SELECT id FROM users
                WHERE closed_at <= \(closing) AND erased_at IS NULL
                    AND (erasure_asked_at IS NULL OR erasure_asked_at <= \(asking))
                ORDER BY closed_at LIMIT \(Int64(limit)) FOR UPDATE SKIP LOCKED))
            RETURNING id
            """
        ).map { UserID(try $0.decode(UUID.self)) }
    }

    /// Whether a profile was closed before a time and is not erased; locked until the transaction ends.
    func isClosed(_ id: UserID, before moment: Date, in transaction: EventTransaction) async throws -> Bool {
        let rows = try await transaction.query(
            """
            SELECT 1 FROM users WHERE id = \(id.uuid) AND closed_at <= \(moment) AND erased_at IS NULL FOR UPDATE
            """
        )
        return !rows.isEmpty
    }

    /// Forgets the details; false when the user is unknown or was erased before.
    func erase(_ id: UserID, in transaction: EventTransaction) async throws -> Bool {
        let rows = try await transaction.query(
            """
            UPDATE users SET kyc_details = NULL, kyb_details = NULL, contact_details = NULL,
                identity_index = NULL, registration_index = NULL,
                erased_at = \(transaction.now), updated_at = \(transaction.now)
            WHERE id = \(id.uuid) AND erased_at IS NULL RETURNING id
            """
        )
        return !rows.isEmpty
    }

    private static func select(_ id: UserID) -> SQL {
        """
        SELECT username, account_type, status, verification_status, kyc_details, kyb_details, contact_details,
            verification_reason, refusal
        FROM users WHERE id = \(id.uuid) AND closed_at IS NULL AND erased_at IS NULL
        """
    }

    private static func user(_ id: UserID, _ row: PostgresRow) throws -> User {
        let (username, type, status, verification, kyc, kyb, contact) = try row.decode(
            String.self,
            String.self,
            String.self,
            String.self,
            String?.self,
            String?.self,
            String?.self
        )
        // The table's checks allow no other words.
        guard let accountType = AccountType(rawValue: type), let status = OnboardingStatus(rawValue: status) else {
            throw StoredWordUnknown(table: "users")
        }
        return User(
            id: id,
            username: username,
            accountType: accountType,
            status: status,
            verification: Open(verification),
            verificationReason: try row["verification_reason"].decode(String?.self),
            refusal: try row["refusal"].decode(String?.self),
            details: SealedDetails(
                kyc: kyc.map(Sealed.init),
                kyb: kyb.map(Sealed.init),
                contact: contact.map(Sealed.init)
            )
        )
    }
}

/// A row holds a word that this version does not know: a newer version wrote it.
struct StoredWordUnknown: Error {
    let table: String
}
