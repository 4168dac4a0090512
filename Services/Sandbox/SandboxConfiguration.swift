import Foundation

/// What the stand-in needs to know, from the environment.
public struct SandboxConfiguration: Sendable {
    /// The address to listen on.
    public var host: String
    /// The port of the provider, Clerk and control paths; 0 takes a free one.
    public var port: Int
    /// The port of the push stand-in, without TLS; nil leaves it out.
    public var pushPort: Int?
    /// Where state is kept; nil keeps it in memory only.
    public var stateDirectory: String?
    /// The keys of which requests must carry one.
    public var apiKeys: [String]
    /// Signs webhooks; at most 10 characters.
    public var webhookToken: String
    /// Where webhooks go from the start.
    public var webhookURL: String?
    /// The id of the organisation's account that is there from the start; nil makes none.
    public var poolAccount: String?
    /// The id of the organisation's account that bills are taken from, which is there from the start; nil makes one at
    /// the first bill.
    public var feeAccount: String?
    /// The issuer of session tokens.
    public var clerkIssuer: String
    /// Signs messages of Clerk; nil: none can be sent.
    public var clerkWebhookSecret: String?
    /// Where messages of Clerk go.
    public var clerkWebhookURL: String?
    /// Milliseconds until an identification ends; nil keeps the default.
    public var kycDelay: Int64?
    /// Milliseconds until a transfer ends; nil keeps the default.
    public var transferDelay: Int64?

    /// Creates a configuration by hand.
    public init(apiKeys: [String], webhookToken: String, clerkIssuer: String, port: Int = 0) {
        self.host = "127.0.0.1"
        self.port = port
        self.apiKeys = apiKeys
        self.webhookToken = webhookToken
        self.clerkIssuer = clerkIssuer
    }

    /// Reads the environment.
    ///
    /// - Throws: `SandboxConfigurationError` naming the first variable that is missing or malformed.
    public init(environment: [String: String]) throws(SandboxConfigurationError) {
        let reader = EnvironmentReader(environment: environment)
        self.init(
            apiKeys: try reader.list("ANCHOR_API_KEY"),
            webhookToken: try reader.list("ANCHOR_WEBHOOK_TOKEN")[0],
            clerkIssuer: try reader.text("CLERK_ISSUER"),
            port: try reader.port("PORT").orThrow("PORT")
        )
        guard self.webhookToken.utf8.count <= 10 else {
            throw SandboxConfigurationError(variable: "ANCHOR_WEBHOOK_TOKEN", problem: "is longer than 10 characters")
        }
        self.host = reader.optional("HOST") ?? "127.0.0.1"
        self.pushPort = try reader.port("APNS_PORT")
        self.stateDirectory = reader.optional("SANDBOX_STATE_DIR")
        self.webhookURL = reader.optional("ANCHOR_WEBHOOK_URL")
        if let url = self.webhookURL, !url.hasPrefix("http://"), !url.hasPrefix("https://") {
            throw SandboxConfigurationError(variable: "ANCHOR_WEBHOOK_URL", problem: "is not an http URL")
        }
        self.poolAccount = reader.optional("ANCHOR_POOL_ACCOUNT_ID")
        self.feeAccount = reader.optional("ANCHOR_FEE_ACCOUNT_ID")
        if reader.optional("CLERK_WEBHOOK_SECRET") != nil {
            self.clerkWebhookSecret = try reader.list("CLERK_WEBHOOK_SECRET")[0]
        }
        self.clerkWebhookURL = reader.optional("CLERK_WEBHOOK_URL")
        self.kycDelay = try reader.milliseconds("SANDBOX_KYC_DELAY_MS")
        self.transferDelay = try reader.milliseconds("SANDBOX_TRANSFER_DELAY_MS")
    }
}

/// A variable that is missing or malformed.
public struct SandboxConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The variable.
    public var variable: String
    /// What is wrong with it, without its value.
    public var problem: String

    /// One line for people.
    public var description: String { "\(self.variable) \(self.problem)" }
}

private struct EnvironmentReader {
    let environment: [String: String]

    func optional(_ name: String) -> String? {
        self.environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    func text(_ name: String) throws(SandboxConfigurationError) -> String {
        try self.optional(name).orThrow(name)
    }

    /// Texts separated by commas, as the services have them while a secret is being replaced: the first one is in use.
    func list(_ name: String) throws(SandboxConfigurationError) -> [String] {
        let texts = try self.text(name).split(separator: ",", omittingEmptySubsequences: false).map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        guard !texts.contains("") else {
            throw SandboxConfigurationError(variable: name, problem: "has an empty part between its commas")
        }
        return texts
    }

    func port(_ name: String) throws(SandboxConfigurationError) -> Int? {
        guard let text = self.optional(name) else { return nil }
        guard let port = Int(text), (0...65_535).contains(port) else {
            throw SandboxConfigurationError(variable: name, problem: "is not a port number")
        }
        return port
    }

    func milliseconds(_ name: String) throws(SandboxConfigurationError) -> Int64? {
        guard let text = self.optional(name) else { return nil }
        guard let time = Int64(text), (0...3_600_000).contains(time) else {
            throw SandboxConfigurationError(variable: name, problem: "is not a number of milliseconds up to an hour")
        }
        return time
    }
}

extension Optional {
    fileprivate func orThrow(_ name: String) throws(SandboxConfigurationError) -> Wrapped {
        guard let value = self else { throw SandboxConfigurationError(variable: name, problem: "is missing") }
        return value
    }
}
