import ServiceKit

/// What transaction is told beyond what every service is.
struct TransactionConfiguration: Sendable {
    let anchorURL: String
    let anchorKey: String

    static let anchorURLSetting = SettingKey("ANCHOR_BASE_URL", .url(["http", "https"]), "the provider's API")
    static let anchorKeySetting = SettingKey("ANCHOR_API_KEY", .text, secret: true, "the provider's API key")

    /// All settings of transaction's own.
    static let keys = [Self.anchorURLSetting, Self.anchorKeySetting]

    /// Reads them.
    init(_ reader: SettingsReader) throws(ConfigurationProblem) {
        self.anchorURL = try reader.text(Self.anchorURLSetting)
        self.anchorKey = try reader.text(Self.anchorKeySetting)
    }
}
