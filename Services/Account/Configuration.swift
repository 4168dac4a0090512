import ServiceKit

/// What account is told beyond what every service is.
struct AccountConfiguration: Sendable {
    let anchorURL: String
    let anchorKey: String

    static let anchorURLSetting = SettingKey(
        "ANCHOR_BASE_URL",
        .url(["http", "https"]),
        class: .address,
        "the provider's API"
    )

    /// All settings of account's own.
    static let keys = [Self.anchorURLSetting, .anchorKey]

    /// Reads them.
    init(_ reader: SettingsReader) throws(ConfigurationProblem) {
        self.anchorURL = try reader.text(Self.anchorURLSetting)
        self.anchorKey = try reader.secrets(.anchorKey).current
    }
}
