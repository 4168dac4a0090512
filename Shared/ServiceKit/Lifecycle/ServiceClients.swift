import AMQP
import Logging
import OutgoingHTTP
import Postgres

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
            // Who was stopped, or cut off, in the middle of a request gives its locks back when its lease ends.
            if role == .handler {
                configuration.settings["idle_in_transaction_session_timeout"] =
                    "\(IdempotencyLease.leaseMilliseconds)"
            }
            return PostgresClient(configuration: configuration, logger: logger)
        } catch {
            throw SettingsReader.problem(key, error.message)
        }
    }

    static func broker(_ settings: ServiceSettings) throws(ConfigurationProblem) -> AMQPConfiguration {
        try self.broker(settings.broker.url, .rabbitmqURL, settings)
    }

    /// As the user that declares; nil when that is the service's own.
    static func topology(_ settings: ServiceSettings) throws(ConfigurationProblem) -> AMQPConfiguration? {
        guard let url = settings.broker.topologyURL else { return nil }
        return try self.broker(url, .rabbitmqTopologyURL, settings)
    }

    private static func broker(
        _ url: String,
        _ key: SettingKey,
        _ settings: ServiceSettings
    ) throws(ConfigurationProblem) -> AMQPConfiguration {
        do {
            var configuration = try AMQPConfiguration(url: url)
            configuration.connectionName = settings.service
            return configuration
        } catch {
            throw SettingsReader.problem(key, error.message)
        }
    }

    static func http(_ metrics: PrometheusRegistry) -> HTTPClient {
        let durations = OutgoingCallMetrics(metrics)
        var configuration = HTTPClient.Configuration()
        configuration.observe = { host, result, duration in durations.record(duration, host: host, result: result) }
        return HTTPClient(configuration)
    }
}
