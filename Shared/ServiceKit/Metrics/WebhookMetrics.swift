public import CoreMetrics

/// Counts webhooks by what became of them.
public struct WebhookMetrics: Sendable {
    /// It was new and is stored.
    public let accepted: any CounterHandler
    /// It had come before.
    public let repeated: any CounterHandler
    /// It is not signed as it should be.
    public let badSignature: any CounterHandler
    /// It is signed, and no message.
    public let malformed: any CounterHandler

    /// Counters of a service.
    public init(_ registry: PrometheusRegistry) {
        let counter = { (result: String) in
            registry.makeCounter(label: "transfa_webhooks", dimensions: [("result", result)])
        }
        self.accepted = counter("accepted")
        self.repeated = counter("repeated")
        self.badSignature = counter("bad_signature")
        self.malformed = counter("malformed")
    }
}
