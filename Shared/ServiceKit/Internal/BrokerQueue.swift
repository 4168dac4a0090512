import AMQP

/// A queue of the broker, as operators see it.
public struct BrokerQueue: Sendable, Codable {
    /// Its name.
    public let name: String
    /// Messages in it, also those that were delivered and not yet acknowledged; nil just after it was made.
    public let messages: Int64?
    /// Who consumes it.
    public let consumers: Int64?
}

extension ServiceHost {
    /// The queues of the broker's virtual host; nil without `RABBITMQ_MANAGEMENT_URL`, and when it does not answer.
    public func brokerQueues() async -> [BrokerQueue]? {
        guard let url = self.settings.broker.managementURL, let broker = try? self.broker() else { return nil }
        let management = RabbitMQManagement(url: url, virtualHost: broker.virtualHost, http: self.http)
        return try? await management?.queues()
    }
}
