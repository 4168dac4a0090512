import Logging
import Metrics
import ServiceKit

/// What the archive tells people: log lines and metrics.
struct ArchiveLog: Sendable {
    private let logger: Logger

    init(_ logger: Logger) {
        self.logger = logger
        // Shown as zero from the start: an alert sees an increase, and none in a counter that begins with its first gap.
        Counter(label: "transfa_archive_gaps").increment(by: 0)
        Counter(label: "transfa_archive_malformed_messages").increment(by: 0)
    }

    func following(from beginning: StreamContinuity.Beginning) {
        let place =
            switch beginning {
            case .never: "the beginning"
            case .anew: "the beginning of a new log"
            case .after(let place): "\(place.offset)"
            }
        self.logger.info("this replica archives", metadata: ["place": .safe(place)])
    }

    func interrupted(_ error: any Error) {
        self.logger.warning("archiving interrupted", metadata: ["error": "\(SafeErrorText.describe(error))"])
    }

    func repeated(_ error: any Error) {
        self.logger.notice("batch repeated", metadata: ["error": "\(SafeErrorText.describe(error))"])
    }

    func gap(_ reason: GapReason, _ missing: Range<UInt64>?) {
        self.logger.error(
            "the event log is not whole, outboxes are read",
            metadata: [
                "reason": .safe(reason.rawValue), "first": .safe(missing.map { "\($0.lowerBound)" } ?? "unknown"),
                "count": .safe(missing.map { "\($0.count)" } ?? "unknown"),
            ]
        )
        Counter(label: "transfa_archive_gaps").increment()
    }

    func filled(_ service: String, gap: Int64, seen: Int, added: Int) {
        self.logger.info(
            "outbox read",
            metadata: [
                "service": .safe(service), "gap": .safe("\(gap)"), "seen": .safe(seen), "added": .safe(added),
            ]
        )
    }

    func stored(_ count: Int, new: Int, malformed: Int, lag: Double?) {
        Counter(label: "transfa_archive_events").increment(by: new)
        Counter(label: "transfa_archive_repeated").increment(by: count - new)
        if malformed > 0 {
            Counter(label: "transfa_archive_malformed_messages").increment(by: malformed)
            self.logger.error("the event log holds what is no event", metadata: ["count": .safe(malformed)])
        }
        if let lag { Gauge(label: "transfa_archive_lag_seconds").record(max(0, lag)) }
    }

    func dropped(_ day: ArchiveDay, left: Int) {
        self.logger.info(
            "day dropped",
            metadata: [
                "day": .safe(day.text), "events": .safe("\(day.events)"), "bytes": .safe("\(day.bytes)"),
                "days_due": .safe(left),
            ]
        )
    }

    func forgotOthers(_ count: Int) {
        self.logger.info("events without a day of their own dropped", metadata: ["count": .safe(count)])
    }
}
