import CoreMetrics
import Logging
import Redis

/// Where Redis is, and as whom.
public struct RedisSettings: Sendable {
    /// `redis://`, `rediss://`, or either through Sentinels.
    public let url: String
    let configuration: RedisConfiguration

    private static let schemes = ["redis", "rediss", "redis+sentinel", "rediss+sentinel"]

    static let url = SettingKey(
        "REDIS_URL",
        .url(Self.schemes),
        class: .server,
        secret: true,
        "Redis; redis+sentinel://[user:password@]host:26379,host:26379/master[/database] asks Sentinels where it is"
    )
    static let prefix = SettingKey(
        "REDIS_PREFIX",
        .text,
        class: .plain,
        optional: true,
        "what all keys in Redis begin with"
    )
    static let authorities = SettingKey(
        "REDIS_CA_FILE",
        .text,
        class: .plain,
        optional: true,
        "PEM: whom rediss:// trusts; without it the authorities of the system"
    )
    static let certificate = SettingKey(
        "REDIS_CERTIFICATE_FILE",
        .text,
        class: .plain,
        optional: true,
        "PEM: who we are, for a Redis that asks; needs REDIS_KEY_FILE"
    )
    static let key = SettingKey(
        "REDIS_KEY_FILE",
        .text,
        class: .plain,
        optional: true,
        "PEM: the key of REDIS_CERTIFICATE_FILE"
    )

    /// All but the URL.
    static let more = [Self.prefix, Self.authorities, Self.certificate, Self.key]

    /// Reads them.
    ///
    /// - Throws: `ConfigurationProblem`.
    init(_ reader: SettingsReader) throws(ConfigurationProblem) {
        self.url = try reader.text(Self.url)
        var configuration = try Self.configuration(self.url)
        configuration.prefix = try reader.optionalText(Self.prefix) ?? ""
        configuration.tlsFiles = RedisConfiguration.TLSFiles(
            authorities: try reader.optionalText(Self.authorities),
            certificate: try reader.optionalText(Self.certificate),
            key: try reader.optionalText(Self.key)
        )
        self.configuration = configuration
        let files = self.configuration.tlsFiles
        guard (files.certificate == nil) == (files.key == nil) else {
            throw SettingsReader.problem(
                files.key == nil ? Self.key : Self.certificate,
                "not set, and \((files.key == nil ? Self.certificate : Self.key).name) is"
            )
        }
        guard self.configuration.usesTLS || files == RedisConfiguration.TLSFiles() else {
            throw SettingsReader.problem(Self.authorities, "is for rediss:// alone, as the other files are")
        }
    }

    private static func configuration(_ url: String) throws(ConfigurationProblem) -> RedisConfiguration {
        do {
            return try RedisConfiguration(url: url)
        } catch {
            throw SettingsReader.problem(Self.url, error.message)
        }
    }

    /// A client that counts what fails.
    ///
    /// - Throws: `ConfigurationProblem` with the setting of a file that cannot be used.
    func client(_ logger: Logger, _ metrics: PrometheusRegistry) throws(ConfigurationProblem) -> RedisClient {
        let counters = Dictionary(
            uniqueKeysWithValues: RedisError.Code.allCases.map { code in
                (code, metrics.makeCounter(label: "redis_errors", dimensions: [("kind", code.rawValue)]))
            }
        )
        var configuration = self.configuration
        // A Redis that was started again does not know our scripts and is told: nothing has failed.
        configuration.observe = { if $0.reply != "NOSCRIPT" { counters[$0.code]?.increment(by: 1) } }
        do throws(RedisError) {
            return try RedisClient(configuration: configuration, logger: logger)
        } catch {
            let files: [RedisConfiguration.TLSFiles.Part: SettingKey] = [
                .authorities: Self.authorities, .certificate: Self.certificate, .key: Self.key,
            ]
            let file = error.reply.flatMap { RedisConfiguration.TLSFiles.Part(rawValue: $0) }
            throw SettingsReader.problem(file.flatMap { files[$0] } ?? Self.url, error.message)
        }
    }
}
