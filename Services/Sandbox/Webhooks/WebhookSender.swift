import Foundation
import Logging
import OutgoingHTTP
import Primitives

/// Delivers webhooks: eight lanes, one subject always in the same lane, so that the events of one subject go out in
/// order.
///
/// Success is 200; anything else is tried again after a short pause, up to the number of attempts.
final class WebhookSender: Sendable {
    private struct Delivery: Sendable {
        var event: Event
        var attempt: Int64
    }

    private static let laneCount = 8
    /// How long an attempt takes at most, also where nobody listens.
    private static let timeout = Duration.seconds(5)

    private let http: HTTPClient
    private let logger: Logger
    private let lanes: [(stream: AsyncStream<Delivery>, continuation: AsyncStream<Delivery>.Continuation)]

    init(http: HTTPClient, logger: Logger) {
        self.http = http
        self.logger = logger
        self.lanes = (0..<Self.laneCount).map { _ in AsyncStream.makeStream() }
    }

    /// Queues an event.
    ///
    /// May be called before `run` and from any task.
    func enqueue(_ event: Event) { self.enqueue(Delivery(event: event, attempt: 1)) }

    private func enqueue(_ delivery: Delivery) {
        let sum = delivery.event.subject.utf8.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFFFF }
        self.lanes[sum % Self.laneCount].continuation.yield(delivery)
    }

    /// Delivers until cancelled.
    func run(_ provider: Provider) async {
        await withTaskGroup(of: Void.self) { group in
            for lane in self.lanes {
                group.addTask { await self.run(lane.stream, provider) }
            }
        }
    }

    private func run(_ lane: AsyncStream<Delivery>, _ provider: Provider) async {
        await withDiscardingTaskGroup { group in
            for await delivery in lane {
                let (target, switches) = provider.store.read { ($0.target, $0.switches) }
                guard let target else { continue }
                let isDelivered = await self.send(delivery, target, switches)
                let isLast = isDelivered || !target.isAtLeastOnce || delivery.attempt >= switches.webhookAttempts
                guard !isLast else {
                    self.end(delivery, isDelivered: isDelivered, provider)
                    continue
                }
                // A retry waits beside the lane, so that one bad event does not hold up the others.
                group.addTask {
                    guard (try? await Task.sleep(for: .milliseconds(switches.webhookRetryMs))) != nil else { return }
                    self.enqueue(Delivery(event: delivery.event, attempt: delivery.attempt + 1))
                }
            }
            group.cancelAll()
        }
    }

    private func end(_ delivery: Delivery, isDelivered: Bool, _ provider: Provider) {
        do {
            try provider.perform { state in
                let attempts = Int(delivery.attempt)
                let change = Change.eventEnded(
                    id: delivery.event.id,
                    attempts: attempts,
                    isDelivered: isDelivered,
                    at: state.now
                )
                state.record(change)
            }
        } catch {
            self.logger.warning("the end of a delivery was not recorded", metadata: ["error": "\(error)"])
        }
    }

    private func send(_ delivery: Delivery, _ target: WebhookTarget, _ switches: Switches) async -> Bool {
        let body = Self.body(delivery.event, isWrapped: delivery.event.isWrapped ?? switches.webhookWrapped)
        let token = switches.webhookForged ? "forged" + String(target.token.prefix(4)) : target.token
        let signature = webhookSignature(body, token: token)
        let sent = switches.webhookAltered ? Self.altered(body) : body
        return await self.post(
            target.url,
            sent,
            signature: signature,
            isPacked: switches.webhookGzip,
            endsConnection: delivery.attempt > 1
        )
    }

    /// Sends bytes with a signature; true when the answer is 200.
    ///
    /// A retry ends the connection that it was given: where all services are replaced at once, an address that was the
    /// receiver's may be another service's by now, which answers 404 for as long as the connection is kept.
    func post(
        _ url: String,
        _ body: [UInt8],
        signature: String?,
        isPacked: Bool,
        endsConnection: Bool = false
    ) async -> Bool {
        var headers: [HTTPHeader] = []
        if let signature { headers.append(("x-anchor-signature", signature)) }
        if isPacked { headers.append(("content-encoding", "gzip")) }
        let bytes = isPacked ? Gzip.pack(body) : body
        return await self.send(bytes, to: url, headers: headers, endsConnection: endsConnection) == 200
    }

    /// Sends bytes with headers, once, and gives the status of the answer; nil when none came.
    func send(
        _ body: [UInt8],
        to url: String,
        headers: [HTTPHeader],
        endsConnection: Bool = false
    ) async -> Int? {
        var call = HTTPCall(
            .post,
            url,
            headers: [("content-type", "application/json")] + headers,
            body: body,
            longestAnswer: 64 * 1024
        )
        call.endsConnection = endsConnection
        return try? await self.http.send(call, within: Self.timeout, patience: Self.timeout).status
    }

    /// Puts JSON texts together: parsing them again would cost more than all the rest of a delivery.
    private static func body(_ event: Event, isWrapped: Bool) -> [UInt8] {
        let included = event.included.map { ",\"included\":\($0)" } ?? ""
        // The content is an object that is not empty, so its last character is the closing brace.
        let text = isWrapped ? "{\"data\":\(event.content)\(included)}" : "\(event.content.dropLast())\(included)}"
        return Array(text.utf8)
    }

    /// Another body that is still a readable event: the first digit of its text is another one.
    private static func altered(_ body: [UInt8]) -> [UInt8] {
        var body = body
        guard let place = body.firstIndex(where: { (0x30...0x39).contains($0) }) else { return body }
        body[place] = body[place] == 0x39 ? 0x30 : body[place] + 1
        return body
    }
}
