import Contracts
import Cryptography
import Foundation
import Messaging
import Postgres
import Primitives
import Sealing
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
        eraseUser: AuthWorld.eraseUser,
        retention: AuthWorld.retention
    )

    var takeClerkMessage: TakeClerkMessage {
        TakeClerkMessage(
            database: self.work,
            webhooks: ClerkWebhookStore(),
            closeProfile: CloseProfile(users: self.users, pins: self.pins, devices: self.devices)
        )
    }

    var vault: KeyVault { KeyVault(keys: DataKeyStore(), ring: self.ring) }
    var checkPIN: CheckPIN { CheckPIN(database: self.requests, pins: self.pins, hasher: self.hasher) }
    var setPIN: SetPIN {
        SetPIN(database: self.requests, users: self.users, pins: self.pins, hasher: self.hasher, check: self.checkPIN)
    }
    var resetPIN: ResetPIN {
        ResetPIN(database: self.requests, users: self.users, pins: self.pins, hasher: self.hasher, clock: self.clock)
    }
    var registerDevice: RegisterDevice { RegisterDevice(users: self.users, devices: self.devices, vault: self.vault) }

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
            try await Onboard(users: self.users, vault: self.vault)(
                signUp,
                user: user,
                clerkSubject: subject,
                in: transaction
            )
        }
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
