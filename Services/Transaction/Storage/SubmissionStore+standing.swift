import Contracts
import Foundation
import Messaging
import Postgres

extension SubmissionStore {
    /// How the transfers stand that messages are about, by their own id and by the provider's.
    struct Standings: Sendable {
        fileprivate var own: [UUID: TransferStanding] = [:]
        fileprivate var providers: [String: TransferStanding] = [:]

        /// The transfer that a message is about; nil while we do not know it.
        func of(_ fact: ProviderTransferUpdated) -> TransferStanding? {
            if let id = Standings.named(fact) { return self.own[id] }
            return self.providers[fact.anchorTransferID]
        }

        /// The transfer of ours that a message names.
        static func named(_ fact: ProviderTransferUpdated) -> UUID? {
            fact.reference.flatMap { TransferReference.transaction(in: $0) }
        }
    }

    /// How the transfers stand that messages are about.
    func standings(of facts: [ProviderTransferUpdated], on database: EventDatabase) async throws -> Standings {
        let rows = try await database.client.query(
            """
            SELECT id, state, provider_id, type = 'money_drop' FROM transfers
            WHERE id = ANY (\(facts.compactMap { Standings.named($0) }))
            UNION SELECT id, state, provider_id, type = 'money_drop' FROM transfers
            WHERE provider_id = ANY (\(facts.map(\.anchorTransferID)))
            """
        )
        var standings = Standings()
        for row in rows {
            let (id, state, providerID, isFunding) = try row.decode(UUID.self, String.self, String?.self, Bool.self)
            let standing = TransferStanding(id: id, state: state, providerID: providerID, isFunding: isFunding)
            standings.own[id] = standing
            if let providerID { standings.providers[providerID] = standing }
        }
        return standings
    }
}
