import Contracts
import Messaging
import Primitives

/// Event -> what it adds to money in and money out.
///
/// Names, what words speak for, and what users have chosen are no part of it: their tables stay when it is made again.
enum MoneyProjection {
    static let name = "money"

    /// The declaration.
    static func make(_ facts: FactStore) -> Projection {
        var projection = Projection(Self.name, tables: ["facts", "movements", "day_totals", "day_categories"])
        projection.on(TransactionCompleted.self, alongside: Self.enqueueWords) { event, transaction in
            try await facts.add(.transfer(event.data), part: Self.part(of: event.attributes), in: transaction)
        }
        projection.on(MoneyDropClaimed.self) { event, transaction in
            try await facts.add(.claim(event.data), part: Self.part(of: event.attributes), in: transaction)
        }
        projection.on(TransactionReversed.self) { event, transaction in
            try await facts.takeBack(event.data.transactionID, in: transaction)
        }
        return projection
    }

    /// Events of one queue are handled one batch at a time, so that batches never wait for each other's rows; and there are
    /// no more parts than queues, because whoever reads a day adds them up.
    private static func part(of attributes: EventAttributes) -> Int {
        Topology.partition(of: attributes.subject) % Self.queues
    }

    private static let queues = Topology.queues(of: .analytics).count

    /// Words are sealed, and the key is not here: that is a job.
    private static func enqueueWords(
        of event: Event<TransactionCompleted>,
        in transaction: EventTransaction
    ) async throws {
        let data = event.data
        guard data.type == .known(.p2p), let sender = data.senderID, let text = data.description else { return }
        let id = data.transactionID.lowercased
        let words = SealedWords(sender: UserID(sender), text: text.text)
        try await transaction.enqueue(AnalyticsJob.readWords, key: id, subject: id, payload: words)
    }
}
