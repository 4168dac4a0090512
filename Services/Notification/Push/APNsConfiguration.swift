import Cryptography
import Foundation
import OutgoingHTTP
import ServiceKit

/// How to reach Apple's push service, and as whom.
struct APNsConfiguration: Sendable {
    let baseURL: String
    let topic: String
    let keyID: String
    let teamID: String
    let key: P256.PrivateKey
    /// A file of certificates to trust in place of the system's; for the sandbox.
    let trustedCertificates: String?

    static let keySetting = SettingKey(
        "APNS_KEY",
        .text,
        class: .key,
        default: "",
        secret: true,
        "signs for Apple's push service: PEM, or base64 of 32 bytes; without it nothing is pushed"
    )
    static let keyIDSetting = SettingKey("APNS_KEY_ID", .text, class: .plain, default: "", "the id of APNS_KEY")
    static let teamIDSetting = SettingKey(
        "APNS_TEAM_ID",
        .text,
        class: .plain,
        default: "",
        "the team that APNS_KEY belongs to"
    )
    static let topicSetting = SettingKey("APNS_TOPIC", .text, class: .plain, default: "", "the app's bundle id")
    static let baseURLSetting = SettingKey(
        "APNS_BASE_URL",
        .url(["https"]),
        class: .address,
        default: "https://api.push.apple.com",
        "Apple's push service"
    )
    static let certificatesSetting = SettingKey(
        "APNS_CA_FILE",
        .text,
        class: .sandbox,
        default: "",
        "certificates to trust in place of the system's, for the sandbox"
    )

    /// All settings of pushes.
    static let keys = [
        Self.keySetting, Self.keyIDSetting, Self.teamIDSetting, Self.topicSetting, Self.baseURLSetting,
        Self.certificatesSetting,
    ]

    /// Reads them; nil without a key: then nothing is pushed.
    static func read(_ reader: SettingsReader) throws(ConfigurationProblem) -> APNsConfiguration? {
        let text = try reader.text(Self.keySetting)
        guard !text.isEmpty else { return nil }
        guard let key = P256.PrivateKey(setting: text) else {
            throw SettingsReader.problem(Self.keySetting, "is not a P-256 private key")
        }
        let certificates = try reader.text(Self.certificatesSetting)
        var url = try reader.text(Self.baseURLSetting)
        while url.hasSuffix("/") { url.removeLast() }
        return APNsConfiguration(
            baseURL: url,
            topic: try Self.needed(Self.topicSetting, reader),
            keyID: try Self.needed(Self.keyIDSetting, reader),
            teamID: try Self.needed(Self.teamIDSetting, reader),
            key: key,
            trustedCertificates: certificates.isEmpty ? nil : certificates
        )
    }

    private static func needed(_ setting: SettingKey, _ reader: SettingsReader) throws(ConfigurationProblem) -> String {
        let text = try reader.text(setting)
        guard !text.isEmpty else { throw SettingsReader.problem(setting, "not set, and APNS_KEY is") }
        return text
    }

    /// A client of its own: one connection to Apple stays open, and what it trusts may differ.
    ///
    /// - Throws: `ConfigurationProblem` when the certificates cannot be read.
    func makeHTTPClient(_ metrics: OutgoingCallMetrics) throws(ConfigurationProblem) -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.speaksHTTP2 = true
        configuration.callsAtOnce = 100
        configuration.connectTimeout = .seconds(5)
        configuration.idleTime = .seconds(30 * 60)
        configuration.observe = { host, result, duration in metrics.record(duration, host: host, result: result) }
        if let file = self.trustedCertificates {
            guard let text = try? String(contentsOfFile: file, encoding: .utf8), Certificates.count(in: text) > 0 else {
                throw SettingsReader.problem(Self.certificatesSetting, "is not a file of certificates in PEM")
            }
            configuration.trustedCertificates = file
        }
        return HTTPClient(configuration)
    }
}
