import AnchorClient
import Contracts
import Foundation
import Logging
import Messaging
import Postgres
import Primitives
import ServiceTestSupport
import TestSupport

@testable import TransactionService

extension RandomMoney {
    // MARK: What services do

    var submission: SubmitTransfers {
        SubmitTransfers(
            database: self.world.work,
            store: SubmissionStore(),
            provider: self.provider,
            clock: self.clock,
            logger: Logger(label: "random") { _ in SwiftLogNoOpLogHandler() },
            repeats: AnchorRepeats(time: self.clock)
        )
    }

    func job(_ key: String, _ payload: String = "{}") -> Job {
        Job(
            id: self.world.ids.next(),
            key: key,
            subject: nil,
            payload: payload,
            attempt: 1,
            cause: Cause(),
            leaseUntil: self.clock.now.addingTimeInterval(600),
            owner: self.world.ids.next()
        )
    }

    func submits() async throws {
        let count = 1 + self.chance.below(8)
        let chosen = Array(self.open.prefix(count))
        guard !chosen.isEmpty else { return }
        for id in chosen where self.chance.happens(50) {
            let fate = RudeProvider.Fate.allCases[self.chance.below(RudeProvider.Fate.allCases.count)]
            self.provider.destine(TransferReference.text(of: id), fate)
        }
        self.provider.becomes(deaf: self.chance.happens(10))
        try await self.sends(chosen)
        self.provider.becomes(deaf: false)
        try await self.forgetsEnded()
        self.counts("submitted")
    }

    /// Jobs of a batch run at once; those of one account come one after another, so that no race decides what it covers.
    func sends(_ ids: [UUID]) async throws {
        let rows = try await self.world.work.client.query(
            "SELECT id, coalesce(source_account, '') FROM transfers WHERE id = ANY (\(ids))"
        )
        let payers = Dictionary(uniqueKeysWithValues: try rows.map { try $0.decode(UUID.self, String.self) })
        var waiting = ids
        while !waiting.isEmpty {
            var seen: Set<String> = []
            let batch = waiting.filter { seen.insert(payers[$0] ?? "").inserted }
            waiting.removeAll { batch.contains($0) }
            _ = try await self.submission(batch.map { self.job($0.lowercased) })
        }
    }

    /// What has ended is accompanied no more; what comes out of pools by itself is.
    func forgetsEnded() async throws {
        let rows = try await self.world.work.client.query(
            """
            SELECT id FROM transfers WHERE state IN ('accepted', 'submitted', 'unknown')
            ORDER BY created_at, type, source_account, destination, amount, id
            """
        )
        let still = try rows.map { try $0.decode(UUID.self) }
        let known = Set(self.open)
        let alive = Set(still)
        self.open = self.open.filter { alive.contains($0) } + still.filter { !known.contains($0) }
    }

    func providerMoves() async throws {
        self.unheard += self.provider.messages()
        if let reference = self.chance.one(of: self.provider.pending) {
            self.provider.ends(reference, self.chance.happens(75) ? .completed : .failed(reason: "not_today"))
            self.counts("provider ended")
        }
        if self.chance.happens(20), let reference = self.chance.one(of: self.provider.completed.suffix(40)),
            try await self.isNotGivenBack(reference)
        {
            self.provider.takesBack(reference, showingPayment: self.chance.happens(50))
            self.counts("provider took back")
        }
        if self.chance.happens(20) {
            self.provider.lateOnesArrive()
            self.counts("late arrived")
        }
    }

    /// What an order has moved out of suspense and the provider takes back all the same has left twice there: a break for
    /// people.
    ///
    /// What is only to be moved it may take back, and nobody has to hear it.
    func isNotGivenBack(_ reference: String) async throws -> Bool {
        let rows = try await self.world.work.client.query(
            """
            SELECT 1 FROM transfers t JOIN suspense_releases r ON t.id IN (r.transfer_id, r.id)
            LEFT JOIN transfers o ON o.id = r.id
            WHERE t.reference = \(reference) AND r.state = 'approved' AND CASE t.id WHEN r.id
                THEN r.disposition = 'return' ELSE coalesce(o.state, 'by hand') <> 'accepted' AND r.disposition <> 'credit' END
            """
        )
        return rows.isEmpty
    }

    /// Some messages arrive: in any order, lost, or twice.
    func hears() async throws {
        self.unheard += self.provider.messages()
        for _ in 0..<(1 + self.chance.below(4)) where !self.unheard.isEmpty {
            let message = self.unheard.remove(at: self.chance.below(self.unheard.count))
            try await self.hears(message)
            if self.chance.happens(20) { try await self.hears(message) }
            self.counts("heard")
        }
    }

    func releases() async throws {
        let store = SuspenseStore(client: self.world.work.client)
        let waiting = try await store.waiting(limit: 1000).filter { $0.release == nil }
            .sorted { ($0.since, $0.type, $0.amount) < ($1.since, $1.type, $1.amount) }
        guard let money = self.chance.one(of: waiting) else { return }
        let id = self.world.ids.next()
        let owner = (self.people + self.gone).first { $0.id.uuid == money.userID }
        let isGone = owner.map { owner in self.gone.contains { $0.id == owner.id } } ?? false
        let way: SuspenseStore.Disposition =
            isGone ? .payOut : self.chance.happens(50) || money.type == "inbound" ? .credit : .giveBack
        let bank = way == .payOut ? owner?.bank : nil
        let word = try await self.world.work.transaction(cause: Cause()) { transaction in
            try await store.propose(id, of: money.id, way, to: bank, by: .grace, in: transaction)
        }
        guard word == "proposed" else { return self.counts("release \(word)") }
        let approves = self.chance.happens(80)
        let decided = try await self.world.work.transaction(cause: Cause()) { transaction in
            try await store.decide(id, approve: approves, by: "linus", in: transaction)
        }
        try await self.forgetsEnded()
        self.counts("\(way.rawValue) \(decided)")
    }

    /// Somebody's profile is closed, and somebody else joins.
    func closes() async throws {
        guard self.isSettled, self.gone.count < 40 else { return }
        let person = self.people.remove(at: self.somebody())
        self.gone.append(person)
        let closed = UserRestricted(userID: person.id.uuid, restriction: Open(.closed), reason: "chance")
        try await self.world.hear(closed, about: person.id.uuid, sequence: 9)
        try await self.joins()
        try await self.closesProducts()
        self.counts("closed")
    }

    /// What the closed had open ends; looked at again until nothing is.
    func closesProducts() async throws {
        for person in self.gone {
            _ = try await self.world.work.transaction(cause: Cause()) { transaction in
                try await ClosureStore().close(person.id.uuid, in: transaction)
            }
        }
        try await self.forgetsEnded()
    }

    /// Two operators say how a transfer ended that nobody knows of; never against what the provider will say.
    func decides() async throws {
        let rows = try await self.world.work.client.query(
            """
            SELECT id FROM transfers WHERE state = 'unknown'
            ORDER BY created_at, type, source_account, destination, amount, id LIMIT 1
            """
        )
        guard let id = try rows.first?.decode(UUID.self) else { return }
        let reference = TransferReference.text(of: id)
        guard !self.provider.isUndecided(reference) else { return self.counts("not decided yet") }
        let isTaken = self.provider.completed.contains(reference)
        let store = TransferDeskStore(client: self.world.work.client)
        let proposal = self.world.ids.next()
        do {
            try await self.world.runs { transaction in
                _ = try await store.propose(
                    proposal,
                    about: id,
                    isTaken ? .completed : .failed,
                    by: .grace,
                    in: transaction
                )
            }
            let refusal = try await self.world.work.transaction(cause: Cause()) { transaction in
                try await store.approve(proposal, by: "linus", in: transaction)
            }
            self.counts("decided \(refusal?.rawValue ?? "approved")")
        } catch let refusal as DecisionRefusal {
            self.counts("decided \(refusal.rawValue)")
        }
    }

    /// The clocks go on.
    func moves(_ time: Duration) async throws {
        self.clock.advance(by: time)
        self.world.clock.advance(by: time)
        try await self.world.runs { transaction in
            try await transaction.stage(
                "UPDATE clock_offset SET moved = moved + \(time.wholeMilliseconds) * interval '1 millisecond'"
            )
        }
    }

    /// Time goes on; what was given up arrives within what the ledger reckons with.
    func waits(_ time: Duration) async throws {
        let latest = self.clock.now.addingTimeInterval(time / .seconds(1) - 100)
        self.provider.lateOnesArrive(madeBefore: latest)
        try await self.moves(time)
        try await self.world.beats()
        try await self.world.runs { transaction in
            try await LedgerUpkeep().sweepMoneyDrops(in: transaction)
            try await LedgerUpkeep().expireRequests(in: transaction)
        }
        try await self.forgetsEnded()
    }
}
