public import Foundation
import Postgres
import Primitives

/// The name of a kind of job.
public struct JobKind: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
    /// The name as it stands in the table.
    public let rawValue: String

    /// Wraps a name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Wraps a name.
    public init(stringLiteral value: String) { self.rawValue = value }
}

/// A job that a worker has leased.
public struct Job: Sendable {
    /// Its id.
    public let id: UUID
    /// Unique within its kind.
    public let key: String
    /// What it is about.
    public let subject: String?
    /// JSON, as it was enqueued.
    public let payload: String
    /// 1 for the first time.
    public let attempt: Int
    /// What caused it; its own events name the job as their direct cause.
    public let cause: Cause
    /// Nobody else runs the job before this time.
    public let leaseUntil: Date
    package let owner: UUID
    /// Where this run of it stands in the trace.
    let place: SpanPlace?

    package init(
        id: UUID,
        key: String,
        subject: String?,
        payload: String,
        attempt: Int,
        cause: Cause,
        leaseUntil: Date,
        owner: UUID
    ) {
        self.place = SpanPlace(below: cause)
        self.id = id
        self.key = key
        self.subject = subject
        self.payload = payload
        self.attempt = attempt
        self.cause = cause.within(self.place?.context)
        self.leaseUntil = leaseUntil
        self.owner = owner
    }

    /// How long ago the job was asked for, which its id says.
    ///
    /// Patience goes by it where runs may end without having asked anybody anything.
    public func age(at moment: Date) -> Duration {
        guard let asked = self.id.version7Milliseconds else { return .zero }
        return .milliseconds(moment.millisecondsSince1970 - asked)
    }

    /// Reads the payload.
    public func payload<Value: Decodable>(as type: Value.Type) throws -> Value {
        try JSONDecoder().decode(type, from: Data(self.payload.utf8))
    }

    /// Marks the job done in the handler's own transaction.
    ///
    /// - Throws: `LeaseLost` when another worker has the job by now; the transaction must roll back.
    public func finish(in transaction: EventTransaction) async throws {
        let rows = try await transaction.query(
            """
            UPDATE jobs SET state = 'done', finished_at = transfa_now(), last_error = NULL, lease_owner = NULL,
                lease_until = NULL
            WHERE id = \(self.id) AND state = 'running' AND lease_owner = \(self.owner)
                AND attempts = \(Int32(self.attempt))
            RETURNING id
            """
        )
        if rows.isEmpty { throw LeaseLost() }
    }
}

/// The lease of a job has passed to another worker: what this one did must not count.
public struct LeaseLost: Error {
    /// Says so.
    public init() {}
}

/// How a job ended, or did not.
public enum JobOutcome: Sendable, Equatable {
    /// Done. Also right when the handler has called `Job.finish(in:)`.
    case done
    /// Not yet: run it again. Without a pause the kind's own backoff counts.
    case again(reason: String, after: Duration?)
    /// It will never succeed; operators see it.
    case failed(reason: String)
    /// There is no longer anything to do.
    case cancelled(reason: String)
}

/// An error that knows what it means for the job it ended.
public protocol JobError: Error {
    /// How the job ended; nil for an error that only says to run it again.
    var jobOutcome: JobOutcome? { get }
}

/// How jobs of one kind are run.
public struct JobDefinition: Sendable {
    /// Runs a batch; the answers are in the order of the jobs.
    ///
    /// When it throws, each of the jobs runs by itself, so that one cannot spoil the others: what it has done by then must
    /// bear to be repeated.
    public typealias Run = @Sendable ([Job]) async throws -> [JobOutcome]

    let kind: JobKind
    let batch: Int
    let concurrency: Int
    let lease: Duration
    let firstPause: Duration
    let maximumPause: Duration
    /// Answers for each job, whatever is thrown.
    package let run: @Sendable ([Job]) async -> [JobOutcome]

    /// Jobs that are run in batches.
    ///
    /// At most `batch` jobs at once and `concurrency` batches at once. After `lease` another worker takes the jobs; keep
    /// calls to the outside under a third of it.
    public init(
        _ kind: JobKind,
        batch: Int,
        concurrency: Int = 4,
        lease: Duration = .seconds(60),
        firstPause: Duration = .seconds(1),
        maximumPause: Duration = .seconds(300),
        run: @escaping Run
    ) {
        self.kind = kind
        self.batch = batch
        self.concurrency = concurrency
        self.lease = lease
        self.firstPause = firstPause
        self.maximumPause = maximumPause
        self.run = { await JobIsolation.run($0, within: lease, run) }
    }

    /// Jobs that are run one by one.
    ///
    /// An error is a reason to run the job again, unless it is a `JobError` that says otherwise.
    public init(
        _ kind: JobKind,
        concurrency: Int = 4,
        lease: Duration = .seconds(60),
        firstPause: Duration = .seconds(1),
        maximumPause: Duration = .seconds(300),
        run: @escaping @Sendable (Job) async throws -> JobOutcome
    ) {
        self.init(
            kind,
            batch: 1,
            concurrency: concurrency,
            lease: lease,
            firstPause: firstPause,
            maximumPause: maximumPause
        ) { jobs in
            var outcomes: [JobOutcome] = []
            for job in jobs {
                do {
                    outcomes.append(try await run(job))
                } catch {
                    outcomes.append(.repeated(because: error))
                }
            }
            return outcomes
        }
    }
}
