import Contracts
import Foundation
import Messaging
import ServiceKit

/// What console is told beyond what every service is.
struct ConsoleConfiguration: Sendable {
    /// How many days of events are kept.
    let retention: Int
    /// Whether it reads the event log; an archive for debugging is filled from a file.
    let readsLog: Bool
    /// The internal ports of the services; console's own is among them.
    let addresses: [ServiceName: String]
    /// Their bearer token.
    let token: String
    /// Who may sign in to the page with a token of their own.
    let operators: OperatorTokens
    /// The role that lets users of the identity provider sign in to the page.
    let operatorRole: Identity.Organization?
    /// How long a session on the page lasts.
    let sessionLife: SignIn.Life
    /// The folder with what shows the description of the API.
    let referenceFolder: String?
    /// The sandbox's address, for those who try the API out from its reference.
    let sandbox: String?

    static let operatorsSetting = SettingKey(
        "OPERATOR_TOKENS",
        .list,
        class: .digests,
        optional: true,
        secret: true,
        "who may sign in to the page: name:SHA-256 of the token in hexadecimal; several of one name while it is replaced"
    )
    static let roleSetting = SettingKey(
        "OPERATOR_ROLE",
        .text,
        class: .plain,
        optional: true,
        "role at the identity provider that may sign in to the page: organization/role; needs CLERK_*"
    )
    static let sessionSetting = SettingKey(
        "OPERATOR_SESSION_MINUTES",
        .integer(5...1440),
        default: "720",
        "how long a session on the page lasts, whatever is done with it"
    )
    static let idleSetting = SettingKey(
        "OPERATOR_IDLE_MINUTES",
        .integer(2...720),
        default: "30",
        "a session on the page ends when nobody was at it for so long"
    )
    static let referenceSetting = SettingKey(
        "REFERENCE_FOLDER",
        .text,
        class: .plain,
        optional: true,
        "folder that deploy/docker/reference.sh makes: Swagger UI, for /docs; without it /docs says where openapi.yaml is"
    )
    static let sandboxSetting = SettingKey(
        "SANDBOX_URL",
        .url(["http", "https"]),
        class: .sandbox,
        optional: true,
        "the sandbox, in its profile alone: /docs then invents people who try the API out"
    )
    static let retentionSetting = SettingKey(
        "ARCHIVE_RETENTION_DAYS",
        .integer(1...3650),
        default: "90",
        "how many days of events the archive keeps"
    )
    static let readsLogSetting = SettingKey(
        "ARCHIVE_READS_LOG",
        .flag,
        default: "true",
        "false: events come from `transfactl events import` alone"
    )
    static let tokenSetting = SettingKey(
        "SERVICES_INTERNAL_TOKEN",
        .list,
        class: .token(mayEqual: "INTERNAL_TOKEN"),
        optional: true,
        secret: true,
        "bearer token of the services' internal ports, the first of several; INTERNAL_TOKEN if not set"
    )

    /// The setting with the internal port of a service.
    static func addressSetting(_ service: ServiceName) -> SettingKey {
        SettingKey(
            "\(service.rawValue.uppercased())_INTERNAL_URL",
            .url(["http", "https"]),
            class: .peer,
            optional: true,
            "internal port of \(service.rawValue); without it its outbox cannot fill gaps"
        )
    }

    /// All settings of console's own.
    static let keys =
        [
            Self.retentionSetting, Self.readsLogSetting, Self.tokenSetting, Self.operatorsSetting, Self.roleSetting,
            Self.sessionSetting, Self.idleSetting, Self.referenceSetting, Self.sandboxSetting,
        ] + ServiceName.allCases.map(Self.addressSetting)

    /// Reads them.
    init(
        _ reader: SettingsReader,
        profile: ServiceSettings.Profile,
        ownToken: String
    ) throws(ConfigurationProblem) {
        self.retention = try reader.integer(Self.retentionSetting)
        self.readsLog = try reader.flag(Self.readsLogSetting)
        self.token = try reader.optionalSecrets(Self.tokenSetting)?.current ?? ownToken
        let operators = try reader.list(Self.operatorsSetting)
        do throws(OperatorTokens.Malformed) {
            self.operators = try OperatorTokens(operators)
        } catch {
            throw SettingsReader.problem(
                Self.operatorsSetting,
                "must be name:64 hexadecimal digits, separated by commas, each token once, each name written one way"
            )
        }
        self.operatorRole = try Self.role(reader)
        // Whoever had both would be two people, and could approve what they proposed.
        guard self.operatorRole == nil || self.operators.isEmpty else {
            throw SettingsReader.problem(Self.roleSetting, "excludes OPERATOR_TOKENS: there is one way to sign in")
        }
        self.sessionLife = SignIn.Life(
            whole: .seconds(60 * (try reader.integer(Self.sessionSetting))),
            idle: .seconds(60 * (try reader.integer(Self.idleSetting)))
        )
        self.referenceFolder = try reader.optionalText(Self.referenceSetting)
        self.sandbox = try reader.optionalText(Self.sandboxSetting).map(Self.base)
        // It signs anybody in.
        guard self.sandbox == nil || profile == .sandbox else {
            throw SettingsReader.problem(Self.sandboxSetting, "is for TRANSFA_PROFILE=sandbox alone")
        }
        var addresses: [ServiceName: String] = [:]
        for service in ServiceName.allCases {
            addresses[service] = try reader.optionalText(Self.addressSetting(service)).map(Self.base)
        }
        self.addresses = addresses
    }

    /// A path is put behind it.
    private static func base(_ url: String) -> String { url.hasSuffix("/") ? String(url.dropLast()) : url }

    private static func role(_ reader: SettingsReader) throws(ConfigurationProblem) -> Identity.Organization? {
        guard let text = try reader.optionalText(Self.roleSetting) else { return nil }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
            throw SettingsReader.problem(Self.roleSetting, "must be organization/role")
        }
        return Identity.Organization(id: parts[0], role: parts[1])
    }

    /// Who may sign in to the page.
    ///
    /// - Throws: `ConfigurationProblem` when a role is named and the identity provider's settings are not there, and
    ///   `ConfigurationProblems` when they are too weak for production.
    func signIn(_ host: ServiceHost, _ database: EventDatabase) throws -> SignIn {
        var role: SignIn.Role?
        if let organization = self.operatorRole {
            try ProductionGate(ClerkSettings.keys, profile: host.settings.profile).check(host.settings.reader)
            let verifier = ClerkVerifier(
                settings: try ClerkSettings(host.settings.reader),
                http: host.http,
                clock: host.clock,
                logger: host.logger
            )
            role = SignIn.Role(verifier: verifier, organization: organization)
        }
        return SignIn(
            tokens: self.operators,
            role: role,
            life: self.sessionLife,
            database: database,
            clock: host.clock
        )
    }
}
