import Contracts
import Foundation
import Primitives
import ServiceKit

/// Drops as their readers see them: names looked up, titles opened.
struct MoneyDropView: Sendable {
    let names: HistoryStore
    let keys: any DataKeys

    func resources(_ drops: [MoneyDrop], for reader: UserID) async throws -> [MoneyDropResource] {
        let names = try await self.names.usernames(of: Array(Set(drops.map(\.creator))))
        var resources: [MoneyDropResource] = []
        for drop in drops {
            let isCreator = drop.creator == reader.uuid
            resources.append(
                MoneyDropResource(
                    id: drop.id,
                    creatorUsername: names[drop.creator],
                    title: try await self.title(of: drop),
                    amountPerClaim: drop.amountPerClaim,
                    slots: drop.slots,
                    slotsLeft: drop.open,
                    status: drop.state,
                    endReason: drop.endReason,
                    passwordRequired: drop.hasPassword,
                    isCreator: isCreator,
                    claimStatus: drop.claim,
                    amountClaimed: isCreator ? Int64(drop.taken) * drop.amountPerClaim : nil,
                    amountRefunded: isCreator ? Int64(drop.refunded) * drop.amountPerClaim : nil,
                    link: drop.link,
                    expiresAt: Timestamp.text(drop.expiresAt),
                    createdAt: Timestamp.text(drop.createdAt)
                )
            )
        }
        return resources
    }

    private func title(of drop: MoneyDrop) async throws -> String? {
        guard let title = drop.title else { return nil }
        return try await self.keys.open(title, field: SealedText.dropTitle, of: UserID(drop.creator))
    }

    func claims(_ claims: [MoneyDropClaim], of drop: MoneyDrop) async throws -> ClaimList {
        let names = try await self.names.usernames(of: claims.map(\.claimant))
        return ClaimList(
            data: claims.map { claim in
                ClaimResource(
                    username: names[claim.claimant],
                    amount: drop.amountPerClaim,
                    status: claim.state,
                    claimedAt: Timestamp.text(claim.claimedAt)
                )
            }
        )
    }
}
