@testable import ServiceKit

/// A database, a Redis and requests under one key, as values: what the mechanism stands on, with its clock in hand.
///
/// The scripts that run in Redis are written again here, as functions; what a request does next is said by the same
/// `IdempotencyMachine` that the executor asks.
struct KeyedWorld {
    /// What is committed: at most one row, and the effects that were committed with rows.
    struct Database {
        var epoch = 0
        var row: String?
        var effects = 0
    }

    /// What one Redis holds; names have the epoch in them.
    struct Redis {
        struct Lease {
            let token: Int
            let end: Int
        }

        var leases: [Int: Lease] = [:]
        var copies: [Int: (answer: String, end: Int)] = [:]
    }

    /// Where a request stands.
    enum Stage {
        case begins
        case waits(until: Int)
        case works(Hold?)
        case committed(answer: String, Hold?)
        case answered(String)
        case died
    }

    /// A lease that a request holds, or held.
    struct Hold {
        let epoch: Int
        let token: Int
    }

    struct Request {
        var stage = Stage.begins
        var machine = IdempotencyMachine()
    }

    /// What is broken on purpose, to see that it is found.
    enum Flaw {
        /// Copies do not name the history they are of.
        case copiesOfAnyHistory
        /// Whoever holds the lease does not look at the row.
        case leaseDecides
    }

    static let beliefMilliseconds = 1000

    let flaw: Flaw?

    var now = 0
    /// Added to the clock of Redis by whoever moves it.
    var redisClock = 0
    var database = Database()
    /// What a restore goes back to.
    var backup = Database()
    var restoredAt = Int.min / 2
    var redis: Redis? = Redis()
    /// What the replica has, to which a failover goes.
    var replica = Redis()
    var requests: [Request] = []
    /// What each process believes of the epoch, and since when.
    var beliefs: [(epoch: Int, at: Int)]
    var nextToken = 0
    var nextEpoch = 1
    /// What went wrong.
    var problem: String?

    init(requests: Int, processes: Int, flaw: Flaw? = nil) {
        self.flaw = flaw
        self.requests = Array(repeating: Request(), count: requests)
        self.beliefs = Array(repeating: (0, Int.min / 2), count: processes)
    }

    /// One request goes one step on.
    mutating func step(_ index: Int) {
        switch self.requests[index].stage {
        case .begins: self.take(index)
        case .waits(let until):
            if self.now >= until { self.take(index) }
        case .works(let hold): self.commit(index, hold)
        case .committed(let answer, let hold):
            if let hold { self.keep(answer, hold) }
            self.requests[index].stage = .answered(answer)
        case .answered, .died: break
        }
    }

    private mutating func believedEpoch(_ index: Int) -> Int {
        guard self.flaw != .copiesOfAnyHistory else { return 0 }
        let process = index % self.beliefs.count
        if self.now - self.beliefs[process].at >= Self.beliefMilliseconds {
            self.beliefs[process] = (self.database.epoch, self.now)
        }
        return self.beliefs[process].epoch
    }

    // MARK: The scripts

    private mutating func take(_ index: Int) {
        let names = IdempotencyLease.Names(lease: "lease", copy: "copy")
        let epoch = self.believedEpoch(index)
        var finding = IdempotencyLease.Finding.unknown
        if var redis = self.redis {
            let clock = self.now + self.redisClock
            if let copy = redis.copies[epoch], copy.end > clock {
                finding = .answered(StoredAnswer(requestHash: [], status: 200, body: copy.answer))
            } else if let lease = redis.leases[epoch], lease.end > clock {
                finding = .running
            } else {
                self.nextToken += 1
                let end = clock + Int(IdempotencyLease.leaseMilliseconds)
                redis.leases[epoch] = Redis.Lease(token: self.nextToken, end: end)
                self.redis = redis
                finding = .mine(IdempotencyLease.Hold(names: names, token: String(self.nextToken)))
            }
        }
        switch self.requests[index].machine.next(finding) {
        case .replay(let answer, _):
            self.requests[index].stage = .answered(answer.body)
            // For as long as a process may believe in the time before a restore, it may say what was true then.
            guard self.now - self.restoredAt > Self.beliefMilliseconds, answer.body != self.database.row else { return }
            self.problem = self.database.row == nil ? "an answer without a row" : "two answers"
        case .run(let hold):
            let held = hold.flatMap { Int($0.token) }.map { Hold(epoch: epoch, token: $0) }
            self.requests[index].stage = .works(held)
        case .wait(let pause):
            self.requests[index].stage = .waits(until: self.now + Int(pause / .milliseconds(1)))
        }
    }

    private mutating func keep(_ answer: String, _ hold: Hold) {
        guard var redis = self.redis else { return }
        let clock = self.now + self.redisClock
        guard let lease = redis.leases[hold.epoch], lease.end > clock, lease.token == hold.token else { return }
        redis.copies[hold.epoch] = (answer, clock + Int(IdempotencyLease.copySeconds) * 1000)
        redis.leases[hold.epoch] = nil
        self.redis = redis
    }

    // MARK: The row

    /// The transaction: under the lock of the key, the row is the answer, or the effect comes with one.
    private mutating func commit(_ index: Int, _ hold: Hold?) {
        if self.database.row == nil || (self.flaw == .leaseDecides && hold != nil) {
            self.database.effects += 1
            self.database.row = self.database.row ?? "answer \(self.database.epoch)-\(index)"
        }
        let answer = self.database.row ?? ""
        self.requests[index].stage = .committed(answer: answer, hold)
        if self.database.effects > 1 { self.problem = "two effects" }
    }

    // MARK: What happens meanwhile

    /// One thing that happens to the world.
    enum Fault: CaseIterable {
        case redisGone, redisBackEmpty, flushed, replicated, failedOver, clockAhead, clockBack, clockRight
        case backedUp, restored, oneDies
    }

    /// Lets it happen; `index` is of the request that dies.
    mutating func suffer(_ fault: Fault, _ index: Int) {
        switch fault {
        case .redisGone: self.redis = nil
        case .redisBackEmpty: self.redis = self.redis ?? Redis()
        case .flushed: self.redis = self.redis.map { _ in Redis() }
        case .replicated: self.replica = self.redis ?? self.replica
        case .failedOver: self.redis = self.replica
        case .clockAhead: self.redisClock = 3_600_000
        case .clockBack: self.redisClock = -3_600_000
        case .clockRight: self.redisClock = 0
        case .backedUp: self.backup = self.database
        case .restored:
            self.database = self.backup
            self.database.epoch = self.nextEpoch
            self.nextEpoch += 1
            self.restoredAt = self.now
        case .oneDies: self.requests[index].stage = .died
        }
    }

    /// Whether every request has come to its end.
    var isOver: Bool {
        self.requests.allSatisfy { request in
            switch request.stage {
            case .answered, .died: true
            default: false
            }
        }
    }
}
