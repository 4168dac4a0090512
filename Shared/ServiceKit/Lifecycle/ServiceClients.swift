import AMQP
import AsyncHTTPClient
import Logging
import NIOCore
import Postgres
import Redis

/// Makes clients from settings and turns their refusals into problems that name the variable.
enum ServiceClients {
    enum Role: String {
        case handler
        case worker
    }

    static func postgres(
        _ role: Role,
        _ settings: ServiceSettings,
        _ logger: Logger
    ) throws(ConfigurationProblem) -> PostgresClient? {
        guard settings.has(.database) else { return nil }
        let (key, url) =
            switch role {
            case .handler: (SettingKey.databaseURL, settings.database.handlerURL)
            case .worker: (SettingKey.workerDatabaseURL, settings.database.workerURL)
            }
        do {
            var configuration = try PostgresConfiguration(url: url)
            configuration.applicationName = "\(settings.service)-\(role.rawValue)"
            return PostgresClient(configuration: configuration, logger: logger)
        } catch {
            throw SettingsReader.problem(key, error.message)
        }
    }

    static func redis(_ settings: ServiceSettings, _ logger: Logger) throws(ConfigurationProblem) -> RedisClient? {
        guard let url = settings.redisOrNone else { return nil }
        do {
            return RedisClient(configuration: try RedisConfiguration(url: url), logger: logger)
        } catch {
            throw SettingsReader.problem(.redisURL, error.message)
        }
    }

    static func broker(_ settings: ServiceSettings) throws(ConfigurationProblem) -> AMQPConfiguration {
        do {
            var configuration = try AMQPConfiguration(url: settings.broker.url)
            configuration.connectionName = settings.service
            return configuration
        } catch {
            throw SettingsReader.problem(.rabbitmqURL, error.message)
        }
    }

    /// No redirects: our own ports and the provider have none, and a token must not follow one.
    ///
    /// A connection that cannot be made fails at once: who wants to wait for a peer says so (`reach`).
    static func http() -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.timeout = .init(connect: .seconds(3), read: .seconds(30))
        configuration.connectionPool.idleTimeout = .seconds(30)
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }
}
