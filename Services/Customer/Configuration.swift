import AnchorClient
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
    /// Where banks cut the names of holders off.
    let nameLengths: NameLengths
    /// Makes the addresses that the provider gets until people's own are proven.
    let standIns: StandInAddress

    static let anchorURLSetting = SettingKey("ANCHOR_BASE_URL", .url(["http", "https"]), "the provider's API")
    static let indexKeySetting = SettingKey(
        "BLIND_INDEX_KEY",
        .text,
        secret: true,
        "base64 of 32 bytes by which sealed account numbers are found; must stay the same"
    )

    static let nameLengthsSetting = SettingKey(
        "HOLDER_NAME_LENGTHS",
        .text,
        default: "20,30",
        "lengths at which banks cut names of holders off, separated by commas; code:length for one bank alone"
    )

    static let standInSetting = SettingKey(
        "STAND_IN_MAIL_DOMAIN",
        .text,
        default: "people.transfa.app",
        "a domain of ours that nobody gets mail at: the provider gets an address there until a person's own is proven"
    )

    /// All settings of customer's own.
    static let keys =
        [
            Self.anchorURLSetting, .anchorKey, Self.indexKeySetting, .publicLink, Self.nameLengthsSetting,
            Self.standInSetting,
        ]
        + ImageStoreSettings.keys

    /// Reads them.
    init(_ reader: SettingsReader) throws(ConfigurationProblem) {
        self.anchorURL = try reader.text(Self.anchorURLSetting)
        self.anchorKey = try reader.secrets(.anchorKey).current
        self.linkBase = try reader.text(.publicLink)
        self.index = try reader.blindIndex(Self.indexKeySetting)
        guard let nameLengths = NameLengths(try reader.list(Self.nameLengthsSetting)) else {
            throw SettingsReader.problem(Self.nameLengthsSetting, "holds lengths from 10 to 200, or code:length")
        }
        self.nameLengths = nameLengths
        guard let standIns = StandInAddress(domain: try reader.text(Self.standInSetting)) else {
            throw SettingsReader.problem(Self.standInSetting, "is no domain")
        }
        self.standIns = standIns
    }
}
