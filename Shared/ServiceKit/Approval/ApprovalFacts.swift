public import Contracts
public import Foundation
public import Messaging
public import Postgres
public import Primitives
public import Sealing

/// What a service has heard of that decides whether an approval holds.
public struct ApprovalFacts: Hashable, Sendable {
    /// What is asked about.
    public struct Question: Hashable, Sendable {
        /// Whose approval it is.
        public let user: UserID
        /// The device that signed; nil for a PIN.
        public let device: UUID?
        /// The sessions that it was given in and that it came with.
        public let sessions: Set<String>

        /// Puts a question together.
        public init(user: UserID, device: UUID?, sessions: Set<String>) {
            self.user = user
            self.device = device
            self.sessions = sessions
        }
    }

    /// The key of the device, if it is registered and not revoked.
    public let deviceKey: DevicePublicKey?
    /// The newest event of `auth` that ended what PINs had approved: tokens that are older hold no more.
    public let pinSequence: Int64
    /// Whether one of the sessions is over.
    public let hasEndedSession: Bool

    /// Puts facts together; only stores and tests do.
    public init(deviceKey: DevicePublicKey?, pinSequence: Int64 = 0, hasEndedSession: Bool = false) {
        self.deviceKey = deviceKey
        self.pinSequence = pinSequence
        self.hasEndedSession = hasEndedSession
    }
}

/// The tables `approval_ends`, `ended_sessions` and `devices` of a service that takes approvals, known from auth.
public struct ApprovalFactStore: Sendable {
    /// How long an ended session is remembered; its last token is gone long before.
    static let memory: TimeInterval = 24 * 60 * 60

    /// Creates a store.
    public init() {}

    /// What is known, in one statement.
    public func facts(_ question: ApprovalFacts.Question, on client: PostgresClient) async throws -> ApprovalFacts {
        let user = question.user.uuid
        let rows = try await client.query(
            """
            SELECT (SELECT d.public_key FROM devices d
                    WHERE d.id = \(question.device) AND d.user_id = \(user) AND d.revoked_at IS NULL),
                coalesce((SELECT e.pin_sequence FROM approval_ends e WHERE e.user_id = \(user)), 0),
                EXISTS (SELECT 1 FROM ended_sessions s
                    WHERE s.user_id = \(user) AND s.session_id = ANY (\(question.sessions.sorted())))
            """,
            as: user
        )
        guard let row = rows.first else { return ApprovalFacts(deviceKey: nil) }
        let (key, sequence, hasEnded) = try row.decode([UInt8]?.self, Int64.self, Bool.self)
        return ApprovalFacts(
            deviceKey: key.flatMap { try? DevicePublicKey(x963: $0) },
            pinSequence: sequence,
            hasEndedSession: hasEnded
        )
    }

    /// What PINs approved before this event holds no more, in whichever order such events are heard.
    public func endPINs(_ user: UUID, _ sequence: Int64, _ transaction: EventTransaction) async throws {
        try await transaction.stage(
            """
            INSERT INTO approval_ends AS e (user_id, pin_sequence) VALUES (\(user), \(sequence))
            ON CONFLICT (user_id) DO UPDATE SET pin_sequence = greatest(e.pin_sequence, excluded.pin_sequence)
            """
        )
    }

    /// A session is over; those of the person that have been over for a day are forgotten.
    public func ended(_ event: Event<SessionEnded>, _ transaction: EventTransaction) async throws {
        let user = event.data.userID
        let oldest = transaction.now.addingTimeInterval(-Self.memory)
        try await transaction.stage("DELETE FROM ended_sessions WHERE user_id = \(user) AND ended_at < \(oldest)")
        try await transaction.stage(
            """
            INSERT INTO ended_sessions (user_id, session_id, ended_at)
            VALUES (\(user), \(event.data.sessionID), \(transaction.now)) ON CONFLICT DO NOTHING
            """
        )
    }

    /// Hears of everything that ends what a PIN approved, except what else follows from it.
    public func hear(in handlers: inout EventHandlers) {
        handlers.on(PINChanged.self) { try await self.endPINs($0.data.userID, $0.attributes.sequence, $1) }
        handlers.on(PINLocked.self) { try await self.endPINs($0.data.userID, $0.attributes.sequence, $1) }
        handlers.on(UserClosed.self) { try await self.endPINs($0.data.userID, $0.attributes.sequence, $1) }
        handlers.on(SessionEnded.self) { try await self.ended($0, $1) }
    }
}
