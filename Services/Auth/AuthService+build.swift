import Contracts
import Foundation
import Hummingbird
import Messaging
import Primitives
import Sealing
public import ServiceKit

extension ServiceDefinition {
    /// The auth service.
    public static let auth = ServiceDefinition(
        name: "auth",
        needs: [.database, .broker, .redis, .clerk, .exports],
        keys: AuthConfiguration.keys,
        schema: { try AuthSchema.sets() },
        build: { try AuthParts(host: $0).wired() }
    )
}

/// Every wire of the service.
struct AuthParts {
    let host: ServiceHost
    let configuration: AuthConfiguration
    let users = UserStore()
    let pins = PINStore()
    let tries = PINTryStore()
    let devices = DeviceStore()
    let sessions = SessionStore()
    let clerkWebhooks = ClerkWebhookStore()
    let vault: KeyVault

    init(host: ServiceHost) throws {
        self.host = host
        self.configuration = try AuthConfiguration(host.settings.reader)
        self.vault = KeyVault(keys: DataKeyStore(), ring: self.configuration.masterKeys)
    }

    func wired() throws -> ServiceParts {
        let eraseUser = EraseUser(users: self.users, keys: self.vault.keys, pins: self.pins, devices: self.devices)
        let eraseClosed = EraseClosedProfiles(
            users: self.users,
            webhooks: self.clerkWebhooks,
            tries: self.tries,
            sessions: self.sessions,
            eraseUser: eraseUser,
            retention: self.configuration.profileRetention
        )
        let messaging = try self.host.messaging(as: .auth) { _, _ in
            MessagingRuntime.Plan(
                handlers: AuthHandlers.make(
                    users: self.users,
                    closeProfile: self.closeProfile,
                    eraseClosed: eraseClosed
                ),
                schedules: [
                    .heartbeat(of: .auth) { AuthHeartbeat(at: $0) }, eraseClosed.schedule,
                    RewrapDataKeys(keys: self.vault.keys, ring: self.vault.ring).schedule,
                ]
            )
        }
        let router = self.host.router()
        self.clerkController(messaging.work).add(to: router)
        self.addUsers(to: self.group(router, messaging.requests), messaging.requests)
        let operations = InternalController(
            database: messaging.work,
            vault: self.vault,
            signer: self.configuration.signer,
            eraseUser: EraseByOperators(users: self.users, eraseUser: eraseUser),
            releaseIdentity: ReleaseIdentity(users: self.users, closeProfile: self.closeProfile)
        )
        let keys = GuardedRoutes(self.configuration.dataKeyTokens) { operations.addKeys(to: $0) }
        return ServiceParts(
            router: router,
            messaging: messaging,
            queries: .auth,
            guardedRoutes: keys,
            exports: .auth,
            exportKeys: VaultKeys(vault: self.vault, database: messaging.work),
            internalRoutes: { operations.add(to: $0) }
        )
    }

    /// The routes that need a session.
    private func group(
        _ router: Router<AppRequestContext>,
        _ requests: EventDatabase
    ) -> RouterGroup<AppRequestContext> {
        let users = self.users
        let gate = ProfileGate(ProfileGate.Routes(asking: ["GET /onboarding/status"])) {
            try await users.state(of: $0, on: requests)
        }
        return router.group().add(middleware: self.host.authentication()).add(middleware: gate)
    }

    private var closeProfile: CloseProfile {
        CloseProfile(users: self.users, pins: self.pins, devices: self.devices)
    }

    private var fresh: FreshSignIn { FreshSignIn(clock: self.host.clock) }

    private func clerkController(_ work: EventDatabase) -> ClerkWebhookController {
        ClerkWebhookController(
            secrets: self.configuration.webhookSecrets,
            takeMessage: TakeClerkMessage(
                database: work,
                webhooks: self.clerkWebhooks,
                users: self.users,
                closeProfile: self.closeProfile,
                endSession: EndSession(users: self.users, sessions: self.sessions),
                index: self.configuration.index
            ),
            memory: self.host.messageMemory(),
            metrics: WebhookMetrics(self.host.metrics),
            clock: self.host.clock
        )
    }

    /// What people do with a session.
    private func addUsers(to group: RouterGroup<AppRequestContext>, _ requests: EventDatabase) {
        let hasher = PINHasher(pepper: self.configuration.pepper)
        let checkPIN = CheckPIN(database: requests, pins: self.pins, tries: self.tries, hasher: hasher)
        let once = ChangeOnce(
            executor: self.host.idempotency(),
            database: requests,
            hashingWith: self.configuration.fingerprints
        )
        OnboardingController(
            once: once,
            onboard: Onboard(users: self.users, vault: self.vault, index: self.configuration.index),
            provideDetails: ProvideDetails(users: self.users, vault: self.vault, index: self.configuration.index),
            users: self.users,
            clock: self.host.clock
        ).add(to: group)
        self.pinController(once, hasher, checkPIN).add(to: group)
        DeviceController(
            once: once,
            checkPIN: checkPIN,
            registerDevice: RegisterDevice(users: self.users, devices: self.devices, vault: self.vault),
            listDevices: ListDevices(database: requests, devices: self.devices, vault: self.vault),
            revokeDevice: RevokeDevice(devices: self.devices),
            fresh: self.fresh
        ).add(to: group)
    }

    private func pinController(
        _ once: ChangeOnce,
        _ hasher: PINHasher,
        _ checkPIN: CheckPIN
    ) -> PINController {
        let requests = once.database
        return PINController(
            once: once,
            setPIN: SetPIN(
                database: requests,
                users: self.users,
                pins: self.pins,
                hasher: hasher,
                check: checkPIN,
                fresh: self.fresh
            ),
            resetPIN: ResetPIN(
                database: requests,
                users: self.users,
                pins: self.pins,
                hasher: hasher,
                fresh: self.fresh
            ),
            checkPIN: checkPIN,
            issueApproval: IssueApproval(
                database: requests,
                pins: self.pins,
                sessions: self.sessions,
                signer: self.configuration.signer,
                vault: self.vault
            )
        )
    }
}
