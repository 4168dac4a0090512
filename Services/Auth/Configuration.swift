import Cryptography
import Foundation
import Sealing
import ServiceKit

/// What auth is told beyond what every service is.
struct AuthConfiguration: Sendable {
    let masterKeys: MasterKeyRing
    let signer: ApprovalSigner
    let pepper: DataKey?
    /// Key the hashes of requests, the one in use first.
    let fingerprints: [BlindIndex]
    /// By which the accounts of one person are found.
    let index: BlindIndex

    /// Of the webhook that Clerk sends, several while one is being replaced.
    let webhookSecrets: [SvixSecret]
    /// How long a closed profile is kept.
    let profileRetention: Duration
    /// Open data keys, and nothing else does.
    let dataKeyTokens: SecretList

    static let webhookSecretSetting = SettingKey(
        "CLERK_WEBHOOK_SECRET",
        .text,
        class: .key,
        secret: true,
        "signs Clerk's webhook: whsec_ and base64, several separated by commas while one is being replaced"
    )
    static let retentionSetting = SettingKey(
        "PROFILE_RETENTION_DAYS",
        .integer(0...36_500),
        default: "1827",
        "days until a closed profile without money is erased; identification has to be kept for five years"
    )
    static let masterKeysSetting = SettingKey(
        "MASTER_KEYS",
        .text,
        class: .key,
        secret: true,
        "wrap the users' data keys: id:base64 of 32 bytes, several separated by commas; the first one wraps"
    )
    static let signingKeySetting = SettingKey(
        "APPROVAL_SIGNING_KEY",
        .text,
        class: .key,
        secret: true,
        "P-256 private keys of approval tokens, base64 of 32 bytes or PEM, separated by commas; the first one signs"
    )
    static let indexKeySetting = SettingKey(
        "BLIND_INDEX_KEY",
        .text,
        class: .key,
        secret: true,
        "base64 of 32 bytes by which the accounts of one person are found; must stay the same"
    )
    static let pepperSetting = SettingKey(
        "PIN_PEPPER",
        .text,
        class: .key,
        secret: true,
        "base64 of 32 bytes that go into every PIN hash; must stay the same; none if not set"
    )

    /// All settings of auth's own.
    static let keys = [
        Self.masterKeysSetting, Self.signingKeySetting, Self.pepperSetting, Self.indexKeySetting,
        Self.webhookSecretSetting, Self.retentionSetting, .dataKeysToken,
    ]

    /// Reads them.
    init(_ reader: SettingsReader) throws(ConfigurationProblem) {
        self.masterKeys = try Self.masterKeys(reader)
        let signingKeys = try Self.signingKeys(reader)
        guard let signer = ApprovalSigner(signingKeys) else {
            throw SettingsReader.problem(Self.signingKeySetting, "must hold at least one key")
        }
        self.signer = signer
        self.pepper = try Self.pepper(reader)
        var fingerprints: [BlindIndex] = []
        for key in signingKeys { fingerprints.append(try Self.fingerprints(key)) }
        self.fingerprints = fingerprints
        self.index = try reader.blindIndex(Self.indexKeySetting)
        self.webhookSecrets = try Self.webhookSecrets(reader)
        let days = try reader.integer(Self.retentionSetting)
        self.profileRetention = .seconds(24 * 60 * 60 * days)
        self.dataKeyTokens = try reader.narrowSecrets(.dataKeysToken)
    }

    private static func webhookSecrets(_ reader: SettingsReader) throws(ConfigurationProblem) -> [SvixSecret] {
        var secrets: [SvixSecret] = []
        for text in try reader.secrets(Self.webhookSecretSetting).all {
            guard let secret = try? SvixSecret(text: text) else {
                throw SettingsReader.problem(
                    Self.webhookSecretSetting,
                    "secret \(secrets.count + 1) is not whsec_ and at least 16 bytes in base64"
                )
            }
            secrets.append(secret)
        }
        return secrets
    }

    private static func masterKeys(_ reader: SettingsReader) throws(ConfigurationProblem) -> MasterKeyRing {
        let text = try reader.text(Self.masterKeysSetting)
        do {
            return try MasterKeyRing(text: text)
        } catch {
            throw SettingsReader.problem(Self.masterKeysSetting, error.message)
        }
    }

    private static func signingKeys(
        _ reader: SettingsReader
    ) throws(ConfigurationProblem) -> [P256.PrivateKey] {
        var keys: [P256.PrivateKey] = []
        for part in try reader.secrets(Self.signingKeySetting).all {
            guard let key = P256.PrivateKey(setting: part) else {
                throw SettingsReader.problem(Self.signingKeySetting, "key \(keys.count + 1) is not a P-256 private key")
            }
            keys.append(key)
        }
        return keys
    }

    private static func pepper(_ reader: SettingsReader) throws(ConfigurationProblem) -> DataKey? {
        guard let text = try reader.optionalText(Self.pepperSetting) else { return nil }
        guard let bytes = Data(base64Encoded: text), let key = try? DataKey(bytes: bytes) else {
            throw SettingsReader.problem(Self.pepperSetting, "must be base64 of 32 bytes")
        }
        return key
    }

    /// Derived, so that there is no further secret to keep: once a signing key is gone, idempotency keys from its time read
    /// as used for another request, which refuses and repeats nothing.
    private static func fingerprints(_ key: P256.PrivateKey) throws(ConfigurationProblem) -> BlindIndex {
        let secret = SymmetricKey(data: key.rawRepresentation)
        let code = HMAC<SHA256>.authenticationCode(for: Array("transfa-auth-fingerprints-1".utf8), using: secret)
        do {
            return try BlindIndex(key: Array(code))
        } catch {
            throw SettingsReader.problem(Self.signingKeySetting, error.message)
        }
    }
}
