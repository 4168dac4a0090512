import Contracts
import Foundation
import Hummingbird
import Primitives
import ServiceKit

/// Requests as their readers see them: names looked up, descriptions opened.
struct PaymentRequestView: Sendable {
    let names: HistoryStore
    let keys: any DataKeys

    func username(of user: UUID) async throws -> String? { try await self.names.usernames(of: [user])[user] }

    func sealed(_ description: String?, of owner: UserID) async throws -> String? {
        guard let description else { return nil }
        return try await self.keys.seal(description, field: SealedText.requestDescription, of: owner)
    }

    /// A request that was made just now, as it is kept with the answer: with the description sealed.
    func resource(of new: PaymentRequestStore.New, at moment: Date) -> PaymentRequestResource {
        PaymentRequestResource(
            id: new.id,
            direction: "outgoing",
            payerUsername: new.draft.payer,
            amount: new.draft.amount,
            description: new.sealedDescription,
            reference: new.draft.reference,
            status: "open",
            multiple: new.draft.isMultiple,
            paidCount: 0,
            paidTotal: 0,
            link: new.link,
            expiresAt: Timestamp.text(new.expiresAt),
            createdAt: Timestamp.text(moment)
        )
    }

    /// The answer to whoever made a request, out of what is kept of it.
    func opened(_ answer: APIResponse, of owner: UserID) async throws -> APIResponse {
        guard answer.status == .created else { return answer }
        var resource = try JSONDecoder().decode(PaymentRequestResource.self, from: Data(answer.body))
        guard let sealed = resource.description else { return answer }
        resource.description = try await self.keys.open(sealed, field: SealedText.requestDescription, of: owner)
        return try APIResponse(answer.status, json: resource, headers: answer.headers)
    }

    func resources(_ requests: [PaymentRequest], for reader: UserID) async throws -> [PaymentRequestResource] {
        let people = Set(requests.flatMap { [$0.owner, $0.payer] }.compactMap { $0 })
        let names = try await self.names.usernames(of: Array(people))
        var resources: [PaymentRequestResource] = []
        for request in requests {
            let isOwner = request.owner == reader.uuid
            let isParty = isOwner || request.payer == reader.uuid
            resources.append(
                PaymentRequestResource(
                    id: request.id,
                    direction: isOwner ? "outgoing" : "incoming",
                    ownerUsername: names[request.owner],
                    payerUsername: request.payer.flatMap { names[$0] },
                    amount: request.amount,
                    description: try await self.description(of: request),
                    reference: request.reference,
                    imageURL: request.image?.requestImagePath,
                    status: request.state,
                    multiple: request.isMultiple,
                    paidCount: isOwner ? request.paidCount : nil,
                    paidTotal: isOwner ? request.paidTotal : nil,
                    transactionID: isParty ? request.transaction : nil,
                    link: request.link,
                    expiresAt: Timestamp.text(request.expiresAt),
                    createdAt: Timestamp.text(request.createdAt)
                )
            )
        }
        return resources
    }

    private func description(of request: PaymentRequest) async throws -> String? {
        guard let text = request.description else { return nil }
        return try await self.keys.open(text, field: SealedText.requestDescription, of: UserID(request.owner))
    }
}
