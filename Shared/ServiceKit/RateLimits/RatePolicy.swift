/// What is counted together, and for whom.
///
/// Every service counts for itself. Who is signed in counts under `user`, wherever they are; what nobody has signed counts
/// under the address that it comes from, apart, so that it stops nobody who has. Routes that cost more than others name a
/// stricter policy where they are declared: `group.limited(.money)`.
public enum RatePolicy: String, CaseIterable, Sendable {
    /// What is for everybody, pictures and pages, and comes from one address. Mobile networks hide thousands of people behind
    /// one, so it is wide.
    case address
    /// What comes from one address without a good token, or without a good signature.
    case strangers
    /// Webhooks of one address, whatever becomes of them.
    case webhooks
    /// Everything that one user does.
    case user
    /// Orders of one user that move money.
    case money
    /// What of one user deals with secrets: PIN, devices, sign-up; of one address signing in to the operators' page.
    case secrets
    /// What tells one user about others: names, quotes.
    case lookups

    /// The environment variable: `<requests>/<seconds>`, or `off`.
    var key: SettingKey {
        switch self {
        case .address: .rateLimitAddress
        case .strangers: .rateLimitStrangers
        case .webhooks: .rateLimitWebhooks
        case .user: .rateLimitUser
        case .money: .rateLimitMoney
        case .secrets: .rateLimitSecrets
        case .lookups: .rateLimitLookups
        }
    }
}

extension SettingKey {
    static let rateLimitAddress = SettingKey(
        "RATE_LIMIT_ADDRESS",
        .rate,
        default: "6000/60",
        "requests for what is everybody's that one address may send"
    )
    static let rateLimitStrangers = SettingKey(
        "RATE_LIMIT_STRANGERS",
        .rate,
        default: "600/60",
        "requests without a good token or signature that one address may send"
    )
    static let rateLimitWebhooks = SettingKey(
        "RATE_LIMIT_WEBHOOKS",
        .rate,
        default: "30000/60",
        "webhooks that one address may send"
    )
    static let rateLimitUser = SettingKey(
        "RATE_LIMIT_USER",
        .rate,
        default: "600/60",
        "requests that one user may send"
    )
    static let rateLimitMoney = SettingKey(
        "RATE_LIMIT_MONEY",
        .rate,
        default: "30/60",
        "orders to move money that one user may send"
    )
    static let rateLimitSecrets = SettingKey(
        "RATE_LIMIT_SECRETS",
        .rate,
        default: "30/60",
        "requests about PIN, devices and sign-up that one user may send"
    )
    static let rateLimitLookups = SettingKey(
        "RATE_LIMIT_LOOKUPS",
        .rate,
        default: "60/60",
        "requests that tell about others that one user may send"
    )
    static let trustedProxies = SettingKey(
        "TRUSTED_PROXIES",
        .list,
        default: "",
        "addresses and networks (10.0.0.0/8) whose X-Forwarded-For, X-Request-Id and traceparent are believed"
    )
}

/// How much of what may come from whom.
public struct RateLimitSettings: Sendable {
    private let limits: [RatePolicy: RateLimit]

    /// Reads `RATE_LIMIT_*`.
    public init(_ reader: SettingsReader) throws(ConfigurationProblem) {
        var limits: [RatePolicy: RateLimit] = [:]
        for policy in RatePolicy.allCases {
            let text = try reader.text(policy.key)
            limits[policy] = text == RateLimitSettings.off ? nil : RateLimit(text: text)
        }
        self.limits = limits
    }

    /// Limits as they are; a policy that is not there has none.
    public init(_ limits: [RatePolicy: RateLimit]) {
        self.limits = limits
    }

    static let off = "off"

    static let keys = RatePolicy.allCases.map(\.key) + [.trustedProxies]

    /// The limit of a policy, nil if it has none.
    public func limit(of policy: RatePolicy) -> RateLimit? { self.limits[policy] }
}
