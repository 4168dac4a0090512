import Contracts
import Foundation
import Sealing

/// Approves payments in a person's name.
struct Approver {
    enum Means: String {
        case device
        case pin
    }

    let stage: Stage

    /// The call with the approval of exactly this call.
    func approve(_ call: Call, as person: Person, by means: Means) async throws(Failure) -> Call {
        let value =
            switch means {
            case .device: try self.signature(call, person)
            case .pin: try await self.token(call, person)
            }
        return call.adding(ApprovalHeader.name, value)
    }

    private func signature(_ call: Call, _ person: Person) throws(Failure) -> String {
        guard let device = person.device else { throw Failure("\(person.name) has registered no device.") }
        let text = ApprovalText(
            method: call.method,
            path: call.path,
            body: call.body,
            nonce: UUID(),
            timestamp: self.stage.now,
            user: try person.knownID
        )
        guard let signature = try? device.key.sign(text) else { throw Failure("The device key could not sign.") }
        let approval = DeviceApproval(
            device: device.id,
            nonce: text.nonce,
            timestamp: text.timestamp,
            signature: signature
        )
        return ApprovalHeader.device(approval).value
    }

    private func token(_ call: Call, _ person: Person) async throws(Failure) -> String {
        let order = ApprovalRequest(
            pin: person.pin,
            method: call.method,
            path: call.path,
            bodySha256: ApprovalText.sha256(call.body)
        )
        let answer = try await self.stage.require(201, from: .post(.service(.auth), "/approvals", order), as: person)
        return ApprovalHeader.pin(token: try answer.decode(ApprovalResponse.self).approvalToken).value
    }
}
