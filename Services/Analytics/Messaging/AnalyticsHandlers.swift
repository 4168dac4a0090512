import Contracts
import Messaging
import Primitives

/// Event -> what analytics does.
enum AnalyticsHandlers {
    /// The table.
    static func make(facts: FactStore, people: CounterpartyStore) -> EventHandlers {
        var handlers = EventHandlers()
        handlers.on(TransactionCompleted.self) { event, transaction in
            try await facts.add(.transfer(event.data), part: Self.part(of: event.attributes), in: transaction)
            try await Self.enqueueWords(of: event.data, in: transaction)
        }
        handlers.on(MoneyDropClaimed.self) { event, transaction in
            try await facts.add(.claim(event.data), part: Self.part(of: event.attributes), in: transaction)
        }
        handlers.on(TransactionReversed.self) { event, transaction in
            let part = Self.part(of: event.attributes)
            try await facts.takeBack(event.data.transactionID, part: part, in: transaction)
        }
        handlers.on(UserCreated.self) { event, transaction in
            try await people.learn(event.data.username, of: UserID(event.data.userID), in: transaction)
        }
        handlers.on(UserErased.self) { event, transaction in
            try await people.forget(UserID(event.data.userID), in: transaction)
        }
        return handlers
    }

    /// Events of one part are handled one batch at a time, so that batches never wait for each other's rows.
    private static func part(of attributes: EventAttributes) -> Int { Topology.partition(of: attributes.subject) }

    /// Words are sealed, and the key is not here: that is a job.
    private static func enqueueWords(
        of data: TransactionCompleted,
        in transaction: EventTransaction
    ) async throws {
        guard data.type == .known(.p2p), let sender = data.senderID, let text = data.description else { return }
        let id = data.transactionID.lowercased
        let words = SealedWords(sender: UserID(sender), text: text.text)
        try await transaction.enqueue(AnalyticsJob.readWords, key: id, subject: id, payload: words)
    }
}
