import Contracts

let disputeSamples: [EventSample] = [
    check(
        DisputeOpened(
            disputeID: sampleID,
            transactionID: sampleID,
            userID: sampleID,
            reason: "not_received",
            dueAt: "2026-11-24T01:07:05.123Z",
            timestamp: "2026-11-21T01:07:05.123Z"
        )
    ),
    check(
        DisputeAnswered(
            disputeID: sampleID,
            transactionID: sampleID,
            userID: sampleID,
            timestamp: "2026-11-21T01:07:05.123Z"
        )
    ),
    check(
        DisputeClosed(
            disputeID: sampleID,
            transactionID: sampleID,
            userID: sampleID,
            outcome: Open(.refunded),
            timestamp: "2026-11-21T01:07:05.123Z"
        )
    ),
]
