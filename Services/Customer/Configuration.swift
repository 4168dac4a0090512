import AnchorClient
import Foundation
import Sealing
import ServiceKit

/// What customer is told beyond what every service is.
struct CustomerConfiguration: Sendable {
    let anchorURL: String
    let anchorKey: String
    /// What the links of profiles begin with.
    let linkBase: String
    /// Finds sealed account numbers and keys the hashes of requests.
    let index: BlindIndex

    static let anchorURLSetting = SettingKey("ANCHOR_BASE_URL", .url(["http", "https"]), "the provider's API")
    static let indexKeySetting = SettingKey(
        "BLIND_INDEX_KEY",
        .text,
        secret: true,
        "base64 of 32 bytes by which sealed account numbers are found; must stay the same"
    )

    /// All settings of customer's own.
    static let keys =
        [Self.anchorURLSetting, .anchorKey, Self.indexKeySetting, .publicLink] + ImageStoreSettings.keys

    /// Reads them.
    init(_ reader: SettingsReader) throws(ConfigurationProblem) {
        self.anchorURL = try reader.text(Self.anchorURLSetting)
        self.anchorKey = try reader.secrets(.anchorKey).current
        self.linkBase = try reader.text(.publicLink)
        let text = try reader.text(Self.indexKeySetting)
        guard let bytes = Data(base64Encoded: text), let index = try? BlindIndex(key: bytes) else {
            throw SettingsReader.problem(Self.indexKeySetting, "must be base64 of 32 bytes")
        }
        self.index = index
    }
}
