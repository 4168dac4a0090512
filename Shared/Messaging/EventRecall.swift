import Foundation

/// A memory of events, and the epoch of the database that it is asked and told in.
struct EventRecall: Sendable {
    let memory: any EventMemory
    let epoch: DatabaseEpoch

    /// What is known of a batch before any of its transactions begins.
    struct Recollection: Sendable {
        /// Nil when the database did not say; nothing is noted then.
        let epoch: String?
        let known: Set<UUID>
    }

    /// Looks all events of a batch up.
    ///
    /// The epoch is asked here, before the transactions: what was committed before a restore must not be noted under
    /// the name that the database has after it.
    func recollection(of ids: [UUID]) async -> Recollection {
        guard !ids.isEmpty, let epoch = await self.epoch.current() else { return Recollection(epoch: nil, known: []) }
        guard let known = await self.memory.known(ids, in: epoch) else {
            self.count(.unknown, ids.count)
            return Recollection(epoch: epoch, known: [])
        }
        self.count(.repeatFromMemory, ids.count { known.contains($0) })
        return Recollection(epoch: epoch, known: known)
    }

    /// Notes what the memory did not know and the inbox has now; `new` of them it did not have before.
    func note(_ ids: [UUID], new: Int, after recollection: Recollection) async {
        guard !ids.isEmpty else { return }
        self.count(.first, new)
        self.count(.repeatFromDatabase, ids.count - new)
        guard let epoch = recollection.epoch else { return }
        await self.memory.note(ids, in: epoch)
    }

    private func count(_ outcome: EventRecollection, _ number: Int) {
        if number > 0 { self.memory.count(outcome, number) }
    }
}
