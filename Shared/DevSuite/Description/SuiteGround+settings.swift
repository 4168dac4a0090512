import Contracts
import Cryptography
import Foundation
import Primitives

extension SuiteGround {
    /// What `transfactl` reads: it calls services as everybody does, by the gateway, when there is one.
    public var tool: [String: String] {
        guard self.choices.hasGateway else { return self.known }
        let direct = Self.services.map { "\($0.uppercased())_URL" }
        return self.known.filter { !direct.contains($0.key) }
            .merging(["GATEWAY_URL": self.publicURL(Self.gateway)]) { $1 }
    }

    /// What every program of ours knows.
    private var known: [String: String] {
        self.addresses.merging(
            ["INTERNAL_TOKEN": self.secrets[.internalToken], "LLVM_PROFILE_FILE": self.choices.profile]
        ) { $1 }
    }

    /// Where every part answers, for its peers and for tools.
    private var addresses: [String: String] {
        var values: [String: String] = [:]
        for kind in SuitePartKind.all(self.choices) where kind.isOurs {
            values["\(kind.name.uppercased())_URL"] = self.publicURL(kind.name)
            guard kind.portNames.contains(kind.internalPort) else { continue }
            values["\(kind.name.uppercased())_INTERNAL_URL"] = self.internalURL(kind.name)
        }
        return values
    }

    /// The variables of a part.
    func settings(of kind: SuitePartKind) -> [String: String] {
        let own: [String: String] =
            switch kind {
            case .apple: self.appleSettings
            case .gateway: self.gatewaySettings
            case .sandbox: self.sandboxSettings
            case .service(let service): self.serviceSettings(of: service)
            case .importer: self.serviceSettings(of: .console).merging(["ARCHIVE_READS_LOG": "false"]) { $1 }
            }
        // None of our secrets is for what is no program of ours.
        guard kind.isOurs else { return own }
        return self.known.merging(self.commonSettings(of: kind)) { $1 }.merging(own) { $1 }
    }

    private func commonSettings(of kind: SuitePartKind) -> [String: String] {
        var values = [
            "HOST": "127.0.0.1", "PORT": "\(self.ports[kind.name] ?? 0)",
            "INTERNAL_HOST": "127.0.0.1", "INTERNAL_PORT": "\(self.ports[kind.internalPort] ?? 0)",
            "TRANSFA_PROFILE": "sandbox", "LOG_LEVEL": self.choices.logLevel,
            "SHUTDOWN_GRACE_SECONDS": "\(self.choices.graceSeconds)",
            "ANCHOR_API_KEY": self.secrets[.anchorAPIKey], "ANCHOR_WEBHOOK_TOKEN": self.secrets.webhookToken,
            "CLERK_ISSUER": Self.issuer, "TRUSTED_PROXIES": "127.0.0.1/32",
        ]
        if let limit = self.choices.rateLimit {
            for policy in ["ADDRESS", "STRANGERS", "WEBHOOKS", "USER", "MONEY", "SECRETS", "LOOKUPS"] {
                values["RATE_LIMIT_\(policy)"] = limit
            }
        }
        return values
    }

    private var sandboxSettings: [String: String] {
        var values = [
            "ANCHOR_POOL_ACCOUNT_ID": Self.poolAccount,
            "ANCHOR_WEBHOOK_URL": "\(self.publicURL("notification"))/webhooks/anchor",
            "CLERK_WEBHOOK_SECRET": self.secrets.clerkWebhookSecret,
            "CLERK_WEBHOOK_URL": "\(self.publicURL("auth"))/webhooks/clerk",
            "APNS_PORT": "\(self.ports[SuitePartKind.pushPort] ?? 0)",
        ]
        if self.choices.keepsSandboxState { values["SANDBOX_STATE_DIR"] = self.sandboxFiles }
        return values
    }

    private func serviceSettings(of service: ServiceName) -> [String: String] {
        let database = self.databases[service.rawValue]
        let sandbox = self.publicURL(Self.sandbox)
        let values = [
            "DATABASE_URL": database?.url(.handler) ?? "", "WORKER_DATABASE_URL": database?.url(.worker) ?? "",
            "RABBITMQ_URL": self.address(self.servers.rabbitmq, as: service.rawValue),
            "RABBITMQ_TOPOLOGY_URL": self.address(self.servers.rabbitmq, as: "topology"),
            "REDIS_URL": self.servers.redis, "METRICS_TOKEN": self.secrets[.metricsToken],
            "EXPORTS_TOKEN": self.secrets[.exportsToken],
            "CLERK_JWKS_URL": "\(sandbox)/.well-known/jwks.json", "CLERK_AUTHORIZED_PARTIES": Self.authorizedParty,
            "ANCHOR_BASE_URL": sandbox,
        ]
        return values.merging(self.keySettings(of: service)) { $1 }.merging(self.ownSettings(of: service)) { $1 }
    }

    /// What opens people's data keys: `auth` has them, these seal and open what is personal.
    private func keySettings(of service: ServiceName) -> [String: String] {
        switch service {
        case .auth, .customer, .account, .transaction, .notification, .analytics:
            ["DATA_KEYS_TOKEN": self.secrets[.dataKeysToken]]
        case .subscription, .console: [:]
        }
    }

    /// What only one service knows.
    private func ownSettings(of service: ServiceName) -> [String: String] {
        switch service {
        case .auth:
            [
                "MASTER_KEYS": "run:\(self.secrets[.masterKey])",
                "APPROVAL_SIGNING_KEY": self.secrets[.approvalSigningKey], "PIN_PEPPER": self.secrets[.pinPepper],
                "CLERK_WEBHOOK_SECRET": self.secrets.clerkWebhookSecret,
                "BLIND_INDEX_KEY": self.secrets[.blindIndexKey],
            ]
        case .customer:
            ["BLIND_INDEX_KEY": self.secrets[.blindIndexKey], "IMAGE_STORE_URL": "file://\(self.images)"]
        case .transaction:
            ["ANCHOR_POOL_ACCOUNT_ID": Self.poolAccount, "IMAGE_STORE_URL": "file://\(self.images)"]
        case .notification:
            [
                "APNS_KEY": self.secrets[.pushKey], "APNS_KEY_ID": "SANDBOXKEY", "APNS_TEAM_ID": "SANDBOXTEAM",
                "APNS_TOPIC": "ng.transfa.app", "APNS_CA_FILE": self.appleCertificate.trusted,
                "APNS_BASE_URL": "https://localhost:\(self.ports[Self.apple] ?? 0)",
            ]
        case .console:
            [
                "OPERATOR_TOKENS": self.operatorHashes, "SANDBOX_URL": self.publicURL(Self.sandbox),
                "RABBITMQ_MANAGEMENT_URL": self.address(self.servers.management, as: "policies"),
            ]
            .merging(self.reference.map { ["REFERENCE_FOLDER": $0] } ?? [:]) { $1 }
        case .account, .subscription, .analytics:
            [:]
        }
    }

    /// An address of the broker in the name of one of its users.
    private func address(_ url: String, as user: String) -> String {
        guard let prefix = self.servers.brokerUsers, var parts = URLComponents(string: url) else { return url }
        parts.user = prefix + user
        parts.password = self.secrets.brokerPassword(of: user)
        return parts.string ?? url
    }

    /// The users of the broker that the services log in as, without what their names begin with, and their passwords.
    public var brokerPasswords: [String: String] {
        let users = Self.services + ["topology", "policies", "observer"]
        return Dictionary(uniqueKeysWithValues: users.map { ($0, self.secrets.brokerPassword(of: $0)) })
    }

    /// Where the pictures of all services are.
    public var images: String { "\(self.files)/images" }

    /// What the sandbox keeps.
    public var sandboxFiles: String { "\(self.files)/sandbox" }

    /// The certificate of the stand-in for Apple's push service.
    public var appleCertificate: AppleCertificate { AppleCertificate(in: "\(self.files)/apple") }

    private var appleSettings: [String: String] {
        [
            "APPLE_BIND": "127.0.0.1:\(self.ports[Self.apple] ?? 0)",
            "APPLE_CERTIFICATE": self.appleCertificate.served,
            "APPLE_SANDBOX": "127.0.0.1:\(self.ports[SuitePartKind.pushPort] ?? 0)",
        ]
    }

    /// Plain HTTP for this machine alone.
    private var gatewaySettings: [String: String] {
        var values = [
            "GATEWAY_PLAIN_BIND": "127.0.0.1:\(self.ports[Self.gateway] ?? 0)",
            "GATEWAY_INTERNAL_BIND": "127.0.0.1:\(self.ports["\(Self.gateway)-internal"] ?? 0)",
            "GATEWAY_THREADS": "1",
        ]
        for service in Self.services {
            values["\(service.uppercased())_ADDRESS"] = "127.0.0.1:\(self.ports[service] ?? 0)"
            values["\(service.uppercased())_HEALTH_PORT"] = "\(self.ports["\(service)-internal"] ?? 0)"
        }
        return values
    }

    private var operatorHashes: String {
        let entries = self.secrets.operatorTokens.sorted { $0.key < $1.key }.map { name, token in
            "\(name):\(Hex.encode(Array(SHA256.hash(data: Array(token.utf8)))))"
        }
        return entries.joined(separator: ",")
    }
}
