import ServiceKit

/// What notification is told beyond what every service is.
struct NotificationConfiguration: Sendable {
    let anchorURL: String
    let anchorKey: String
    /// Those in force: several while one is being replaced.
    let webhookTokens: SecretList
    /// Nil: nothing is pushed.
    let push: APNsConfiguration?
    /// How long messages are kept.
    let retention: Duration
    /// How many live streams one process serves.
    let streams: Int

    static let anchorURLSetting = SettingKey(
        "ANCHOR_BASE_URL",
        .url(["http", "https"]),
        class: .address,
        "the provider's API"
    )
    static let webhookTokenSetting = SettingKey(
        "ANCHOR_WEBHOOK_TOKEN",
        .list,
        class: .token(characters: 10),
        secret: true,
        "signs the provider's webhooks, ten characters; several, separated by commas, while one is being replaced"
    )

    /// The provider takes no longer one, and a shorter one can be found by trying.
    static let webhookTokenLength = 10

    static let retentionSetting = SettingKey(
        "NOTIFICATION_RETENTION_DAYS",
        .integer(30...3650),
        default: "365",
        "how long messages stay in inboxes"
    )
    static let streamsSetting = SettingKey(
        "STREAM_CONNECTIONS",
        .integer(1...100_000),
        default: "1000",
        "how many live streams one process serves"
    )

    /// All settings of notification's own.
    static let keys =
        [Self.anchorURLSetting, .anchorKey, Self.webhookTokenSetting, Self.retentionSetting]
        + [Self.streamsSetting] + APNsConfiguration.keys

    /// Reads them.
    init(_ reader: SettingsReader) throws(ConfigurationProblem) {
        self.anchorURL = try reader.text(Self.anchorURLSetting)
        self.anchorKey = try reader.secrets(.anchorKey).current
        self.webhookTokens = try reader.secrets(Self.webhookTokenSetting, minimum: Self.webhookTokenLength)
        self.push = try APNsConfiguration.read(reader)
        self.retention = .seconds(try reader.integer(Self.retentionSetting) * 86_400)
        self.streams = try reader.integer(Self.streamsSetting)
    }
}
