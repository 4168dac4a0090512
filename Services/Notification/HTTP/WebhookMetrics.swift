import CoreMetrics
import ServiceKit

/// Counts webhooks by what became of them.
struct WebhookMetrics: Sendable {
    let accepted: any CounterHandler
    let repeated: any CounterHandler
    let badSignature: any CounterHandler
    let malformed: any CounterHandler

    init(_ registry: PrometheusRegistry) {
        let counter = { (result: String) in
            registry.makeCounter(label: "transfa_webhooks", dimensions: [("result", result)])
        }
        self.accepted = counter("accepted")
        self.repeated = counter("repeated")
        self.badSignature = counter("bad_signature")
        self.malformed = counter("malformed")
    }
}
