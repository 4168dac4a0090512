import AnchorClient
import Contracts
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
    /// The internal ports of the services, customer's own among them: who asks for their data is told of all.
    let addresses: [ServiceName: String]

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

    /// The setting with the internal port of a service.
    static func addressSetting(_ service: ServiceName) -> SettingKey {
        SettingKey(
            "\(service.rawValue.uppercased())_INTERNAL_URL",
            .url(["http", "https"]),
            "internal port of \(service.rawValue): what it holds about who asks for their data"
        )
    }

    /// The port of auth is a setting of every service that seals.
    private static let others = ServiceName.allCases.filter { $0 != .auth }

    /// All settings of customer's own.
    static let keys =
        [Self.anchorURLSetting, .anchorKey, Self.indexKeySetting, .publicLink, Self.nameLengthsSetting]
        + ImageStoreSettings.keys + Self.others.map(Self.addressSetting)

    /// Reads them.
    init(_ reader: SettingsReader, auth: String) throws(ConfigurationProblem) {
        self.anchorURL = try reader.text(Self.anchorURLSetting)
        self.anchorKey = try reader.secrets(.anchorKey).current
        self.linkBase = try reader.text(.publicLink)
        self.index = try reader.blindIndex(Self.indexKeySetting)
        guard let nameLengths = NameLengths(try reader.list(Self.nameLengthsSetting)) else {
            throw SettingsReader.problem(Self.nameLengthsSetting, "holds lengths from 10 to 200, or code:length")
        }
        self.nameLengths = nameLengths
        var addresses: [ServiceName: String] = [.auth: auth]
        for service in Self.others {
            let url = try reader.text(Self.addressSetting(service))
            addresses[service] = url.hasSuffix("/") ? String(url.dropLast()) : url
        }
        self.addresses = addresses
    }
}
