import DequeModule

/// Everything the stand-in provider knows.
///
/// Changed only by applying changes, so that the journal can rebuild it.
struct SandboxState: Sendable {
    var switches = Switches()
    var target: WebhookTarget?

    var customers: [String: Customer] = [:]
    var customerOrder: [String] = []
    var customerByEmail: [String: String] = [:]
    var documents: [String: RequiredDocument] = [:]
    var documentsByCustomer: [String: [String]] = [:]
    var accounts: [String: Account] = [:]
    var accountOrder: [String] = []
    var accountsByCustomer: [String: [String]] = [:]
    var accountByNumber: [String: String] = [:]
    var counterparties: [String: Counterparty] = [:]
    var counterpartyByKey: [String: String] = [:]
    /// In whose names accounts at other banks are, where tests have said so, by number.
    var holders: [String: String] = [:]
    var transfers: [String: Transfer] = [:]
    var transferOrder: [String] = []
    var transfersByReference: [String: [String]] = [:]
    var transfersByAccount: [String: [String]] = [:]
    var transfersByDestination: [String: [String]] = [:]
    var transferByKey: [String: String] = [:]
    var inbound: [String: InboundPayment] = [:]
    var inboundByAccount: [String: [String]] = [:]
    var rows: [String: [Row]] = [:]
    var bills: [Bill] = []
    /// The organisation's account that bills are taken from.
    var feeAccount: String?
    var events: [String: Event] = [:]
    var waitingEvents: Set<String> = []
    /// Events that were delivered or given up, oldest first: only so many are kept for reading again.
    var endedEvents: Deque<String> = []
    var eventCount: Int64 = 0
    var log: [LogEntry] = []

    /// Sums since the beginning, for the check that no kobo is lost: in - out = sum of ledgers.
    var totalIn: Int64 = 0
    var totalOut: Int64 = 0

    /// The time of the operation that runs, in milliseconds.
    var now: Int64 = 0
    /// Changes since the last save.
    var unsaved: [Change] = []
    /// What is to be done because of them.
    var followUps: [FollowUp] = []

    private var lastID: Int64 = 0

    /// One row of an account's history.
    struct Row: Sendable {
        var id: String
        var amount: Int64
        var isCredit: Bool
        var reference: String
        var narration: String
        var createdAt: Int64
        /// Of a bill: what it is for.
        var feeType: String?
    }

    /// Applies a change and keeps it for the journal.
    mutating func record(_ change: Change) {
        self.apply(change)
        self.unsaved.append(change)
    }

    /// A new id in the provider's form: digits that grow with time, then the kind.
    mutating func newID(_ kind: String) -> String {
        self.lastID = max(self.lastID + 1, self.now * 10_000)
        return "\(self.lastID)-\(kind)"
    }

    /// Keeps new ids above those that a journal brought.
    mutating func note(id: String) {
        guard let digits = id.split(separator: "-").first, let number = Int64(digits) else { return }
        self.lastID = max(self.lastID, number)
    }

    mutating func follow(after delay: Int64, _ action: FollowUp.Action) {
        self.followUps.append(FollowUp(delay: delay, action: action))
    }
}
