import ServiceKit

/// What notification is told beyond what every service is.
struct NotificationConfiguration: Sendable {
    let anchorURL: String
    let anchorKey: String
    /// Those in force: several while one is being replaced.
    let webhookTokens: [String]

    static let anchorURLSetting = SettingKey("ANCHOR_BASE_URL", .url(["http", "https"]), "the provider's API")
    static let anchorKeySetting = SettingKey("ANCHOR_API_KEY", .text, secret: true, "the provider's API key")
    static let webhookTokenSetting = SettingKey(
        "ANCHOR_WEBHOOK_TOKEN",
        .list,
        secret: true,
        "signs the provider's webhooks; several, separated by commas, while one is being replaced"
    )

    /// All settings of notification's own.
    static let keys = [Self.anchorURLSetting, Self.anchorKeySetting, Self.webhookTokenSetting]

    /// Reads them.
    init(_ reader: SettingsReader) throws(ConfigurationProblem) {
        self.anchorURL = try reader.text(Self.anchorURLSetting)
        self.anchorKey = try reader.text(Self.anchorKeySetting)
        self.webhookTokens = try reader.list(Self.webhookTokenSetting)
        guard !self.webhookTokens.isEmpty else {
            throw SettingsReader.problem(Self.webhookTokenSetting, "must hold at least one token")
        }
    }
}
