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
        needs: [.database, .broker, .redis, .clerk],
        keys: AuthConfiguration.keys,
        migrations: { try AuthMigrations.all() },
        build: { try AuthParts(host: $0).wired() }
    )
}

/// Every wire of the service.
struct AuthParts {
    let host: ServiceHost
    let configuration: AuthConfiguration

    init(host: ServiceHost) throws {
        self.host = host
        self.configuration = try AuthConfiguration(host.settings.reader)
    }

    func wired() throws -> ServiceParts {
        let users = UserStore()
        let pins = PINStore()
        let devices = DeviceStore()
        let vault = KeyVault(keys: DataKeyStore(), ring: self.configuration.masterKeys)
        let messaging = try self.host.messaging(as: .auth) { _, _ in
            MessagingRuntime.Plan(handlers: AuthHandlers.make(users: users), schedules: [Heartbeat.schedule])
        }
        let requests = messaging.requests
        let hasher = PINHasher(pepper: self.configuration.pepper)
        let checkPIN = CheckPIN(database: requests, pins: pins, hasher: hasher)
        let mutation = Mutation(
            database: requests,
            executor: self.host.idempotency(),
            index: self.configuration.fingerprints
        )
        let router = self.host.router()
        let group = router.group().add(middleware: self.host.authentication())
        OnboardingController(
            mutation: mutation,
            onboard: Onboard(users: users, vault: vault),
            provideDetails: ProvideDetails(users: users, vault: vault),
            users: users,
            clock: self.host.clock
        ).add(to: group)
        PINController(
            setPIN: SetPIN(database: requests, users: users, pins: pins, hasher: hasher, check: checkPIN),
            resetPIN: ResetPIN(database: requests, users: users, pins: pins, hasher: hasher, clock: self.host.clock),
            issueApproval: IssueApproval(
                check: checkPIN,
                signer: self.configuration.signer,
                clock: self.host.clock,
                ids: self.host.ids
            )
        ).add(to: group)
        DeviceController(
            mutation: mutation,
            checkPIN: checkPIN,
            registerDevice: RegisterDevice(users: users, devices: devices, vault: vault),
            listDevices: ListDevices(database: requests, devices: devices, vault: vault),
            revokeDevice: RevokeDevice(devices: devices)
        ).add(to: group)
        let operations = InternalController(
            database: messaging.work,
            vault: vault,
            signer: self.configuration.signer,
            eraseUser: EraseUser(users: users, keys: vault.keys, pins: pins, devices: devices)
        )
        return ServiceParts(router: router, messaging: messaging) { operations.add(to: $0) }
    }
}
