import Contracts
import Foundation

let sampleID = UUID(uuid: (1, 0x93, 0x2f, 0x5e, 0, 0, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, 1))

/// One event of each kind, by kind and version, with a check that it survives the wire.
struct EventSample: Sendable, CustomStringConvertible {
    let name: String
    let json: String
    let roundTrips: @Sendable (String) throws -> Bool
    var description: String { self.name }
}

func check<Payload: EventData>(_ payload: Payload) -> EventSample {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
    let data = (try? encoder.encode(payload)) ?? Data()
    return EventSample(
        name: "\(Payload.type.rawValue).v\(Payload.majorVersion)",
        json: String(decoding: data, as: UTF8.self) + "\n"
    ) { text in
        try JSONDecoder().decode(Payload.self, from: Data(text.utf8)) == payload
    }
}

let eventSamples = disputeSamples + otherSamples

private let otherSamples: [EventSample] = [
    check(
        AccountOpened(
            userID: sampleID,
            accountID: sampleID,
            anchorAccountID: "17000000000002-anc_acc",
            bankName: "Sample Bank",
            accountNumber: Sealed("s1.c2VhbGVk"),
            accountName: Sealed("s1.c2VhbGVk")
        )
    ),
    check(
        PaymentUnmatched(
            providerPaymentID: "17000000000003-anc_inb_trsf",
            anchorAccountID: "17000000000002-anc_acc",
            amount: 250_000,
            timestamp: "2026-11-21T01:07:05.123Z"
        )
    ),
    check(
        WalletCredited(
            userID: sampleID,
            paymentID: sampleID,
            providerPaymentID: "17000000000005-anc_inb_trsf",
            anchorAccountID: "17000000000002-anc_acc",
            amount: 150_000,
            reference: "trf-01932f5e-0000-7000-8000-000000000001",
            timestamp: "2026-11-21T01:07:05.123Z"
        )
    ),
    check(
        CustomerCreated(userID: sampleID, anchorCustomerID: "17000000000001-anc_ind_cst", accountType: Open(.personal))
    ),
    check(CustomerVerified(userID: sampleID, anchorCustomerID: "17000000000001-anc_ind_cst")),
    check(
        CustomerRejected(
            userID: sampleID,
            anchorCustomerID: "17000000000001-anc_ind_cst",
            status: Open(.rejected),
            reason: "no_slot"
        )
    ),
    check(PINSet(userID: sampleID, setID: sampleID, setAt: "2026-11-21T01:07:05.123Z")),
    check(PINLocked(userID: sampleID, lockID: sampleID, lockedUntil: "2026-11-21T01:22:05.123Z")),
    check(SessionEnded(userID: sampleID, sessionID: "sess_2ada", endedAt: "2026-11-21T01:07:05.123Z")),
    check(PINReset(userID: sampleID, resetID: sampleID, resetAt: "2026-11-21T01:07:05.123Z")),
    check(PINChanged(userID: sampleID, changeID: sampleID, changedAt: "2026-11-21T01:07:05.123Z")),
    check(CustomerDetailsRefused(userID: sampleID, reason: "email_in_use", detailsSequence: 2)),
    check(
        BeneficiaryAdded(
            userID: sampleID,
            beneficiaryID: sampleID,
            anchorCounterpartyID: "17000000000004-anc_cp",
            isDefault: true,
            bankName: "Sample Bank",
            bankCode: "000014",
            accountNumber: Sealed("s1.c2VhbGVk"),
            accountName: Sealed("s1.c2VhbGVk")
        )
    ),
    check(BeneficiaryRemoved(userID: sampleID, beneficiaryID: sampleID)),
    check(BeneficiaryDefaulted(userID: sampleID, beneficiaryID: sampleID)),
    check(
        DeviceRegistered(
            userID: sampleID,
            deviceID: sampleID,
            publicKey: "text",
            activatedAt: "2026-11-21T01:07:05.123Z"
        )
    ),
    check(DeviceRevoked(userID: sampleID, deviceID: sampleID, revokedAt: "2026-11-21T01:07:05.123Z")),
    check(AuthHeartbeat(at: "2026-11-21T01:07:05.123Z")),
    check(CustomerHeartbeat(at: "2026-11-21T01:07:05.123Z")),
    check(SubscriptionHeartbeat(at: "2026-11-21T01:07:05.123Z")),
    check(
        ProviderAccountOpened(anchorAccountID: "17000000000002-anc_acc", anchorCustomerID: "17000000000001-anc_ind_cst")
    ),
    check(
        ProviderTransferUpdated(
            anchorTransferID: "17000000000003-anc_trsf",
            reference: "trf-01932f5e-0000-7000-8000-000000000001",
            status: Open(.successful),
            reason: "no_slot",
            providerEventID: "17000000000006-anc_et"
        )
    ),
    check(
        ProviderPaymentReceived(
            providerPaymentID: "17000000000005-anc_inb_trsf",
            anchorAccountID: "17000000000002-anc_acc",
            settled: true,
            providerEventID: "17000000000006-anc_et"
        )
    ),
    check(
        SubscriptionActivated(
            userID: sampleID,
            plan: "plus",
            activeUntil: "2026-12-21T01:07:05.123Z",
            graceUntil: "2026-12-24T01:07:05.123Z"
        )
    ),
    check(
        SubscriptionRenewed(
            userID: sampleID,
            plan: "plus",
            activeUntil: "2026-12-21T01:07:05.123Z",
            graceUntil: "2026-12-24T01:07:05.123Z"
        )
    ),
    check(SubscriptionCancelled(userID: sampleID, plan: "plus", activeUntil: "2026-12-21T01:07:05.123Z")),
    check(
        SubscriptionPaymentFailed(
            userID: sampleID,
            plan: "plus",
            amount: 150_000,
            reason: "insufficient_funds",
            retryAt: "2026-12-21T13:07:05.123Z",
            graceUntil: "2026-12-24T01:07:05.123Z"
        )
    ),
    check(
        SubscriptionChargeRequested(
            userID: sampleID,
            reference: "sub-01932f5e-0000-7000-8000-000000000001-20261121",
            attempt: 1,
            plan: "plus",
            amount: 150_000
        )
    ),
    check(
        SubscriptionChargePaid(
            userID: sampleID,
            reference: "sub-01932f5e-0000-7000-8000-000000000001-20261121",
            attempt: 1,
            amount: 150_000,
            transactionID: sampleID,
            timestamp: "2026-11-21T01:07:05.123Z"
        )
    ),
    check(
        SubscriptionChargeRefused(
            userID: sampleID,
            reference: "sub-01932f5e-0000-7000-8000-000000000001-20261121",
            attempt: 1,
            amount: 150_000,
            reason: "insufficient_funds",
            timestamp: "2026-11-21T01:07:05.123Z"
        )
    ),
    check(SubscriptionLapsed(userID: sampleID, plan: "plus")),
    check(UsageAdjusted(userID: sampleID, adjustmentID: sampleID, month: "2026-11", delta: -1)),
    check(
        TransactionCreated(
            transactionID: sampleID,
            senderID: sampleID,
            recipientID: sampleID,
            amount: 150_000,
            type: Open(.p2p),
            route: Open(.external),
            fee: 150_000,
            duty: 150_000,
            routeReason: "free_slot",
            timestamp: "2026-11-21T01:07:05.123Z"
        )
    ),
    check(
        TransactionCompleted(
            transactionID: sampleID,
            senderID: sampleID,
            recipientID: sampleID,
            amount: 150_000,
            type: Open(.p2p),
            route: Open(.external),
            fee: 150_000,
            duty: 150_000,
            routeReason: "free_slot",
            recipientType: Open(.merchant),
            releases: sampleID,
            description: Sealed("s1.c2VhbGVk"),
            timestamp: "2026-11-21T01:07:05.123Z"
        )
    ),
    check(
        TransactionFailed(
            transactionID: sampleID,
            senderID: sampleID,
            recipientID: sampleID,
            amount: 150_000,
            type: Open(.p2p),
            route: Open(.external),
            fee: 150_000,
            duty: 150_000,
            failureReason: "provider_failed",
            timestamp: "2026-11-21T01:07:05.123Z"
        )
    ),
    check(
        TransactionReversed(
            transactionID: sampleID,
            senderID: sampleID,
            recipientID: sampleID,
            amount: 150_000,
            type: Open(.p2p),
            route: Open(.external),
            fee: 150_000,
            duty: 150_000,
            receivable: 150_000,
            timestamp: "2026-11-21T01:07:05.123Z"
        )
    ),
    check(
        TransferReroutedInternal(
            transactionID: sampleID,
            senderID: sampleID,
            recipientID: sampleID,
            amount: 150_000,
            reason: "no_slot",
            timestamp: "2026-11-21T01:07:05.123Z"
        )
    ),
    check(ExternalSlotTaken(userID: sampleID, transactionID: sampleID, month: "2026-11", used: 3)),
    check(ExternalSlotReleased(userID: sampleID, transactionID: sampleID, month: "2026-11", used: 3)),
    check(
        UserCreated(
            userID: sampleID,
            username: "ada",
            accountType: Open(.personal),
            kycDetails: Sealed("s1.c2VhbGVk"),
            kybDetails: Sealed("s1.c2VhbGVk"),
            contactDetails: Sealed("s1.c2VhbGVk")
        )
    ),
    check(
        UserDetailsProvided(
            userID: sampleID,
            accountType: Open(.personal),
            kycDetails: Sealed("s1.c2VhbGVk"),
            kybDetails: Sealed("s1.c2VhbGVk"),
            contactDetails: Sealed("s1.c2VhbGVk")
        )
    ),
    check(UserErased(userID: sampleID)),
    check(UserClosed(userID: sampleID, closedAt: "2026-11-21T01:07:05.123Z")),
    check(UserErasureDue(userID: sampleID)),
    check(UserErasureCleared(userID: sampleID)),
    check(
        UserSettingsChanged(
            userID: sampleID,
            allowSending: true,
            receivingPreference: Open(.external),
            whoMayRequest: Open(.contacts)
        )
    ),
    check(UserRestricted(userID: sampleID, restriction: Open(.postNoDebit), reason: "no_slot")),
    check(UserBlockChanged(userID: sampleID, otherID: sampleID, isBlocked: true)),
    check(UserTierChanged(userID: sampleID, tier: 2, before: 1, reason: "documents_checked")),
    check(UserExportReady(userID: sampleID, exportID: sampleID, expiresAt: "2026-11-22T01:07:05.123Z")),
    check(
        MoneyDropOpened(
            moneyDropID: sampleID,
            creatorID: sampleID,
            amountPerClaim: 50_000,
            slots: 10,
            expiresAt: "2026-11-22T01:07:05.123Z",
            timestamp: "2026-11-21T01:07:05.123Z"
        )
    ),
    check(
        MoneyDropClaimed(
            moneyDropID: sampleID,
            creatorID: sampleID,
            amountPerClaim: 50_000,
            slots: 10,
            claimantID: sampleID,
            transactionID: sampleID,
            claimed: 3,
            timestamp: "2026-11-21T01:07:05.123Z"
        )
    ),
    check(
        MoneyDropEnded(
            moneyDropID: sampleID,
            creatorID: sampleID,
            amountPerClaim: 50_000,
            slots: 10,
            reason: Open(.expired),
            claimed: 3,
            timestamp: "2026-11-21T01:07:05.123Z"
        )
    ),
    check(
        MoneyDropRefunded(
            moneyDropID: sampleID,
            creatorID: sampleID,
            amountPerClaim: 50_000,
            slots: 10,
            transactionID: sampleID,
            amount: 350_000,
            timestamp: "2026-11-21T01:07:05.123Z"
        )
    ),
    check(
        PaymentRequestCreated(
            paymentRequestID: sampleID,
            ownerID: sampleID,
            payerID: sampleID,
            amount: 150_000,
            timestamp: "2026-11-21T01:07:05.123Z"
        )
    ),
    check(
        PaymentRequestFulfilled(
            paymentRequestID: sampleID,
            ownerID: sampleID,
            payerID: sampleID,
            amount: 150_000,
            transactionID: sampleID,
            timestamp: "2026-11-21T01:07:05.123Z"
        )
    ),
    check(
        PaymentRequestReopened(
            paymentRequestID: sampleID,
            ownerID: sampleID,
            payerID: sampleID,
            amount: 150_000,
            transactionID: sampleID,
            timestamp: "2026-11-21T01:07:05.123Z"
        )
    ),
    check(
        PaymentRequestDeclined(
            paymentRequestID: sampleID,
            ownerID: sampleID,
            payerID: sampleID,
            amount: 150_000,
            timestamp: "2026-11-21T01:07:05.123Z"
        )
    ),
    check(
        PaymentRequestCancelled(
            paymentRequestID: sampleID,
            ownerID: sampleID,
            payerID: sampleID,
            amount: 150_000,
            timestamp: "2026-11-21T01:07:05.123Z"
        )
    ),
    check(
        PaymentRequestExpired(
            paymentRequestID: sampleID,
            ownerID: sampleID,
            payerID: sampleID,
            amount: 150_000,
            transactionID: sampleID,
            timestamp: "2026-11-21T01:07:05.123Z"
        )
    ),
]
