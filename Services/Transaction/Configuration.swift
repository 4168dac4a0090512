import ServiceKit

/// What transaction is told beyond what every service is.
struct TransactionConfiguration: Sendable {
    let anchorURL: String
    let anchorKey: String
    /// The provider's account that holds the money of drops.
    let poolAccount: String
    /// What links of drops and payment requests begin with.
    let linkBase: String

    static let anchorURLSetting = SettingKey("ANCHOR_BASE_URL", .url(["http", "https"]), "the provider's API")

    static let poolAccountSetting = SettingKey(
        "ANCHOR_POOL_ACCOUNT_ID",
        .text,
        "the deposit account at the provider that holds money drops"
    )

    /// All settings of transaction's own.
    static let keys =
        [Self.anchorURLSetting, .anchorKey, Self.poolAccountSetting, .publicLink] + ImageStoreSettings.keys

    /// Reads them.
    init(_ reader: SettingsReader) throws(ConfigurationProblem) {
        self.anchorURL = try reader.text(Self.anchorURLSetting)
        self.anchorKey = try reader.secrets(.anchorKey).current
        self.poolAccount = try reader.text(Self.poolAccountSetting)
        self.linkBase = try reader.text(.publicLink)
    }
}
