import Contracts
import Cryptography
import Foundation
import Messaging
import Postgres
import Primitives
import Sealing
import ServiceKit
import ServiceTestSupport
import TestSupport

@testable import AuthService

/// Auth on a database of its own, without HTTP and broker: what its use cases leave behind is rows.
struct AuthWorld: ServiceWorld {
    let service: ServiceDatabase
    let ring: MasterKeyRing
    let signer: ApprovalSigner
    let signingKey: P256.PrivateKey
    let hasher: PINHasher

    let users = UserStore()
    let pins = PINStore()
    let devices = DeviceStore()
    let sessions = SessionStore()

    var handlers: EventHandlers { AuthWorld.handlers }

    static let handlers = AuthHandlers.make(
        users: UserStore(),
        closeProfile: CloseProfile(users: UserStore(), pins: PINStore(), devices: DeviceStore()),
        eraseClosed: AuthWorld.eraseClosed
    )

    /// The outbox has partitions for a week ahead.
    static let retention = Duration.seconds(2 * 24 * 60 * 60)
    static let eraseUser = EraseUser(users: UserStore(), keys: DataKeyStore(), pins: PINStore(), devices: DeviceStore())
    static let eraseClosed = EraseClosedProfiles(
        users: UserStore(),
        webhooks: ClerkWebhookStore(),
        tries: PINTryStore(),
        sessions: SessionStore(),
        eraseUser: AuthWorld.eraseUser,
        retention: AuthWorld.retention
    )

    var takeClerkMessage: TakeClerkMessage {
        TakeClerkMessage(
            database: self.work,
            webhooks: ClerkWebhookStore(),
            closeProfile: CloseProfile(users: self.users, pins: self.pins, devices: self.devices),
            endSession: EndSession(users: self.users, sessions: self.sessions)
        )
    }

    var fresh: FreshSignIn { FreshSignIn(clock: self.clock) }
    var vault: KeyVault { KeyVault(keys: DataKeyStore(), ring: self.ring) }
    /// Finds the accounts of one person.
    var index: BlindIndex { get throws { try BlindIndex(key: Array(repeating: 6, count: 32)) } }
    var checkPIN: CheckPIN { self.checker(hashing: self.hasher) }
    var pinSetting: SetPIN {
        SetPIN(
            database: self.requests,
            users: self.users,
            pins: self.pins,
            hasher: self.hasher,
            check: self.checkPIN,
            fresh: self.fresh
        )
    }
    var pinReset: ResetPIN {
        ResetPIN(database: self.requests, users: self.users, pins: self.pins, hasher: self.hasher, fresh: self.fresh)
    }
    var issueApproval: IssueApproval {
        IssueApproval(
            database: self.requests,
            pins: self.pins,
            sessions: self.sessions,
            signer: self.signer,
            vault: self.vault
        )
    }
    var registerDevice: RegisterDevice { RegisterDevice(users: self.users, devices: self.devices, vault: self.vault) }

    /// Checks PINs with another hasher.
    func checker(hashing hasher: PINHasher) -> CheckPIN {
        CheckPIN(database: self.requests, pins: self.pins, tries: PINTryStore(), hasher: hasher)
    }

    /// Sets a PIN, without a key, by somebody who has just signed in.
    func setPIN(_ pin: PIN, current: PIN?, of user: UserID, cause: Cause) async throws {
        try await self.setPIN(pin, current: current, of: user, provenAt: self.clock.now, cause: cause)
    }

    /// Sets a PIN, without a key, by somebody who signed in then.
    func setPIN(_ pin: PIN, current: PIN?, of user: UserID, provenAt: Date?, cause: Cause) async throws {
        let prepared = try await self.pinSetting.prepare(
            pin,
            current: current,
            of: user,
            provenAt: provenAt,
            under: nil,
            cause: cause
        )
        try await self.asUser(user) { try await self.pinSetting(prepared, of: user, in: $0) }
    }

    /// Resets a PIN, without a key.
    func resetPIN(_ pin: PIN, of user: UserID, provenAt: Date?, cause: Cause) async throws {
        let hash = try await self.pinReset.prepare(pin, of: user, provenAt: provenAt)
        try await self.asUser(user) { try await self.pinReset(hash, of: user, in: $0) }
    }

    /// Issues an approval for a right PIN, without a key.
    func approve(
        _ scope: ApprovalScope,
        pin: PIN,
        of user: UserID,
        in session: String = "session"
    ) async throws -> ApprovalResponse {
        let hash = try await self.checkPIN(pin, of: user, cause: Cause())
        let kept = try await self.asUser(user) {
            try await self.issueApproval(scope, hash, user: user, session: session, in: $0)
        }
        return try await self.issueApproval.opened(kept, of: user)
    }

    /// The wrong attempts that are counted against Ada's PIN.
    func failedAttempts() async throws -> Int {
        let sql: SQL = "SELECT failed_attempts FROM pins WHERE user_id = \(self.ada.uuid)"
        guard let count = try await self.work.client.query(sql).first?.decode(Int32.self) else {
            throw TestFailure("Ada has no PIN")
        }
        return Int(count)
    }

    /// How many rows a table has.
    func count(_ table: String) async throws -> Int64 {
        try await self.work.client.query("SELECT count(*) FROM \(unsafe: table)").first?.decode(Int64.self) ?? 0
    }

    /// Signs a user up.
    @discardableResult
    func onboard(_ subject: String, _ request: OnboardingRequest) async throws -> OnboardingResponse {
        let signUp = try SignUp(checking: request, today: LagosCalendar.day(of: self.clock.now))
        let user = UserID(clerkSubject: subject)
        return try await self.asUser(user) { transaction in
            try await Onboard(users: self.users, vault: self.vault, index: try self.index)(
                signUp,
                user: user,
                clerkSubject: subject,
                in: transaction
            )
        }
    }
}

extension CheckPIN {
    /// Checks a PIN without a key.
    @discardableResult
    func callAsFunction(_ pin: PIN, of user: UserID, cause: Cause) async throws -> String {
        try await self(pin, of: user, under: nil, cause: cause)
    }
}

/// Runs `body` with auth on a fresh database.
func withAuth(_ body: (AuthWorld) async throws -> Void) async throws {
    try await withServiceDatabase(
        .auth,
        schema: try AuthSchema.sets(),
        handlers: AuthWorld.handlers,
        connections: 8
    ) { service in
        let signingKey = P256.PrivateKey()
        guard let signer = ApprovalSigner([signingKey]),
            let cheap = ScryptParameters(logN: 10, blockSize: 1, parallelism: 1)
        else { throw TestFailure("the keys of the test are no keys") }
        let world = AuthWorld(
            service: service,
            ring: try MasterKeyRing([MasterKey(id: "test", bytes: Array(repeating: 7, count: 32))]),
            signer: signer,
            signingKey: signingKey,
            hasher: PINHasher(parameters: cheap)
        )
        try await body(world)
    }
}
