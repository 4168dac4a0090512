import Contracts
import Foundation
import Primitives
import TestSupport

/// What happens between an approval and the request that it is for.
enum ApprovalChange: String, CaseIterable, Sendable {
    case nothing
    case pinChanged = "PIN changed"
    case pinReset = "PIN reset"
    case pinLocked = "PIN locked"
    case deviceRemoved = "device removed"
    case sessionEnded = "session ended"
    case frozen
    case closed
    case limitLowered = "limit lowered"

    /// How a request is approved.
    enum Means: String, CaseIterable, Sendable {
        case pin = "PIN"
        case device
    }

    /// The event that tells of it, and who has to hear it.
    private var news: (type: EventType, places: [ServiceName])? {
        switch self {
        case .nothing, .limitLowered: nil
        case .pinChanged: (PINChanged.type, [.transaction, .subscription])
        case .pinReset: (PINReset.type, [.transaction, .subscription])
        case .pinLocked: (PINLocked.type, [.transaction, .subscription])
        case .deviceRemoved: (DeviceRevoked.type, [.transaction, .subscription])
        case .sessionEnded: (SessionEnded.type, [.transaction, .subscription])
        case .frozen: (UserRestricted.type, [.transaction])
        case .closed: (UserClosed.type, [.transaction, .subscription])
        }
    }

    /// Lets it happen to a person, and waits until it is heard wherever approvals are taken.
    func happen(to person: Person, in suite: RunningSuite) async throws {
        let answer = try await self.order(person, suite)
        guard answer.map({ (200..<300).contains($0.status) || self == .pinLocked }) ?? true else {
            throw TestFailure("\(self) was answered \(answer?.text ?? "")")
        }
        guard let news = self.news else { return }
        for place in news.places {
            let heard = """
                SELECT count(*) FROM inbox WHERE type = '\(news.type.rawValue)' AND subject = '\(person.id.lowercased)'
                """
            try await eventually("\(place) to hear of it", within: .seconds(30), every: .milliseconds(50)) {
                try await suite.number(heard, of: place.rawValue) > 0
            }
        }
    }

    private func order(_ person: Person, _ suite: RunningSuite) async throws -> Reply? {
        switch self {
        case .nothing: return nil
        case .pinChanged:
            let body = try RunningSuite.json(PINRequest(pin: "739155", currentPin: RunningSuite.pin))
            return try await suite.call("PUT", .auth, "/pin", as: person.subject, body: body)
        case .pinReset:
            let body = try RunningSuite.json(PINResetRequest(pin: "739155"))
            return try await suite.call("POST", .auth, "/pin/reset", as: person.subject, body: body)
        case .pinLocked:
            var answer: Reply?
            let guess = ApprovalRequest(
                pin: "910283",
                method: "POST",
                path: "/",
                bodySha256: String(repeating: "0", count: 64)
            )
            for _ in 0..<5 {
                let body = try RunningSuite.json(guess)
                answer = try await suite.call("POST", .auth, "/approvals", as: person.subject, body: body)
            }
            return answer
        case .deviceRemoved:
            return try await suite.call("DELETE", .auth, "/devices/\(person.device.lowercased)", as: person.subject)
        case .sessionEnded:
            let order = #"{"subject":"\#(person.subject)","type":"session.ended","session":"sess_sandbox"}"#
            return try await suite.sandbox("POST", "/sandbox/clerk/webhooks", order)
        case .frozen, .closed:
            let body = #"{"restriction":"\#(self.rawValue)","reason":"a_test"}"#
            return try await suite.operate(
                "PUT",
                "customer",
                "/internal/users/\(person.id.lowercased)/restriction",
                body
            )
        case .limitLowered:
            let body = try RunningSuite.json(OwnLimits(perTransfer: 50))
            let approval = try PaymentOrder.approve(body, by: person, method: "PUT", path: "/limits")
            let headers = ["Transfa-Approval": approval]
            return try await suite.call(
                "PUT",
                .transaction,
                "/limits",
                as: person.subject,
                headers: headers,
                body: body
            )
        }
    }
}
