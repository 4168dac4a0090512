import Contracts
import Foundation
import Primitives

/// What the steps of the journey act with: requests that are shown, and waits that end.
struct Stage {
    private static let pause = Duration.milliseconds(100)
    /// Tokens live for a minute; the services allow five seconds of skew.
    private static let tokenAge = Duration.seconds(40)
    /// The origin that scripts/run tells the services to accept.
    static let authorizedParty = "https://app.sandbox.transfa.test"

    let caller: Caller
    let report: Report
    /// The most that one wait may take.
    let patience: Duration
    /// By how many seconds the services' clocks were put forward.
    var clockOffset: Int64 = 0

    /// The services' time in seconds since 1970.
    var now: Int64 { Int64(Date().timeIntervalSince1970) + self.clockOffset }

    // MARK: Requests

    /// Sends and shows a request, then waits until the events named were handled by everybody who listens.
    func perform(
        _ call: Call,
        as person: Person? = nil,
        causing types: [EventType] = []
    ) async throws(Failure) -> Answer {
        let answer = try await self.send(call, as: person)
        self.report.exchange(call, answer)
        guard (200..<300).contains(answer.status) else { return answer }
        if !types.isEmpty { self.show(try await self.trail(of: answer, with: types)) }
        return answer
    }

    /// The same for a request that must be answered with one of these statuses.
    func require(
        _ statuses: Int...,
        from call: Call,
        as person: Person? = nil,
        causing types: [EventType] = []
    ) async throws(Failure) -> Answer {
        let answer = try await self.perform(call, as: person, causing: types)
        guard statuses.contains(answer.status) else {
            let code = answer.errorCode.map { " (\($0))" } ?? ""
            throw Failure("\(call.line) answered \(answer.status)\(code) instead of \(statuses[0]).")
        }
        return answer
    }

    /// Sends a request without showing it.
    func send(_ call: Call, as person: Person? = nil) async throws(Failure) -> Answer {
        guard let person else { return try await self.caller.send(call) }
        return try await self.caller.send(call.adding("Authorization", "Bearer \(try await self.token(of: person))"))
    }

    private struct TokenRequest: Encodable {
        let subject: String
        let azp: String
        let age: Int64

        private enum CodingKeys: String, CodingKey {
            case subject, azp
            case age = "age_seconds"
        }
    }

    private struct Token: Decodable {
        let jwt: String
    }

    private func token(of person: Person) async throws(Failure) -> String {
        if let (token, since) = person.token, since.duration(to: .now) < Self.tokenAge { return token }
        let order = TokenRequest(
            subject: person.clerkSubject,
            azp: Self.authorizedParty,
            age: -self.clockOffset
        )
        let token = try await self.caller.send(.post(.sandbox, "/sandbox/clerk/tokens", order)).decode(Token.self).jwt
        person.token = (token, .now)
        return token
    }

    // MARK: Waiting

    /// Asks again and again until `probe` gives something.
    func wait<Value>(for what: String, _ probe: () async throws(Failure) -> Value?) async throws(Failure) -> Value {
        let start = ContinuousClock.now
        while true {
            if let value = try await probe() {
                self.report.note("\(what): after \(Self.seconds(start.duration(to: .now)))")
                return value
            }
            guard start.duration(to: .now) < self.patience else {
                throw Failure("Waited \(Self.seconds(self.patience)) in vain for this: \(what).")
            }
            do {
                try await Task.sleep(for: Self.pause)
            } catch {
                throw Failure("Cancelled while waiting for this: \(what).")
            }
        }
    }

    /// Asks with a GET until the answer is one that `read` accepts; only that one is shown.
    func wait<Value>(
        for what: String,
        asking call: Call,
        as person: Person,
        _ read: (Answer) throws(Failure) -> Value?
    ) async throws(Failure) -> Value {
        let (answer, value) = try await self.wait(for: what) { () throws(Failure) -> (Answer, Value)? in
            let answer = try await self.send(call, as: person)
            return try read(answer).map { (answer, $0) }
        }
        self.report.exchange(call, answer)
        return value
    }

    /// Waits until a payment is completed, failed or reversed.
    func end(of payment: UUID, by payer: Person, _ what: String) async throws(Failure) -> TransactionResource {
        let call = Call.get(.service(.transaction), "/transactions/\(payment.lowercased)")
        return try await self.wait(for: what, asking: call, as: payer) {
            answer throws(Failure) -> TransactionResource? in
            let found = try answer.expecting().decode(TransactionResource.self)
            return ["completed", "failed", "reversed"].contains(found.state) ? found : nil
        }
    }

    // MARK: Events

    /// The events of a request, once those named are there and handled by everybody who listens.
    func trail(of answer: Answer, with types: [EventType]) async throws(Failure) -> [TracedEvent] {
        guard let request = answer.requestID else { throw Failure("\(answer.line) answered without X-Request-Id.") }
        let trail = EventTrail(caller: self.caller)
        let start = ContinuousClock.now
        while true {
            let events = try await trail.events(of: request)
            let missing = types.filter { type in !events.contains { $0.type == type && $0.awaited.isEmpty } }
            if missing.isEmpty { return events }
            guard start.duration(to: .now) < self.patience else {
                self.show(events)
                let names = missing.map(\.rawValue).joined(separator: ", ")
                throw Failure(
                    "Of \(answer.line), \(names) was not handled by everybody within \(Self.seconds(self.patience))."
                )
            }
            do { try await Task.sleep(for: Self.pause) } catch { throw Failure("Cancelled while waiting for events.") }
        }
    }

    func show(_ events: [TracedEvent]) {
        for event in events { self.report.event(event) }
    }

    private static func seconds(_ duration: Duration) -> String {
        let milliseconds = duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000
        return "\(milliseconds / 1000).\(milliseconds / 100 % 10) s"
    }
}
