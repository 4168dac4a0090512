import Contracts
import Foundation
import Messaging
import ObjectStorage
import Postgres
import Primitives
import Sealing
import ServiceKit

/// What transaction knows about people, written from events.
///
/// Each fact has the sequence of the newest event that told it: events of one source may come in another order than they
/// were published in.
struct ReadModelStore: Sendable {
    func created(_ event: Event<UserCreated>, _ transaction: EventTransaction) async throws {
        let data = event.data
        try await self.ensure(data.userID, transaction)
        try await transaction.stage(
            """
            UPDATE users SET username = \(data.username), account_type = \(data.accountType.text),
                auth_sequence = \(event.attributes.sequence)
            WHERE id = \(data.userID) AND auth_sequence < \(event.attributes.sequence)
            """
        )
    }

    /// A policy this version does not know counts as the strictest; an older publisher names none, and then the one
    /// that was known stays.
    func settingsChanged(_ event: Event<UserSettingsChanged>, _ transaction: EventTransaction) async throws {
        let data = event.data
        let policy = data.whoMayRequest.map { $0.value ?? .nobody }
        try await self.ensure(data.userID, transaction)
        try await transaction.stage(
            """
            SELECT hear_settings(\(data.userID), \(data.allowSending),
                \(data.receivingPreference == .known(.wallet) ? "wallet" : "external"), \(policy?.rawValue)::text,
                \(event.attributes.sequence))
            """
        )
    }

    /// A restriction this version does not know counts as the strictest: nothing moves.
    ///
    /// Closed is the last word: what comes later changes nothing.
    func restricted(_ event: Event<UserRestricted>, _ transaction: EventTransaction) async throws {
        let data = event.data
        let (status, debitsBlocked): (String, Bool) =
            switch data.restriction {
            case .known(.none): ("active", false)
            case .known(.postNoDebit): ("active", true)
            case .known(.closed): ("closed", true)
            case .known(.frozen), .unknown: ("frozen", true)
            }
        try await self.ensure(data.userID, transaction)
        try await transaction.stage(
            "SELECT hear_restriction(\(data.userID), \(status), \(debitsBlocked), \(event.attributes.sequence))"
        )
        if status == "closed" { try await self.closeProducts(of: data.userID, transaction) }
    }

    /// What a closed person has open comes to an end.
    private func closeProducts(of user: UUID, _ transaction: EventTransaction) async throws {
        try await transaction.requeue(TransactionJob.closeProducts, key: user.lowercased, subject: user.lowercased)
    }

    /// Whom a person has blocked neither pays nor asks them.
    func blockChanged(_ event: Event<UserBlockChanged>, _ transaction: EventTransaction) async throws {
        let data = event.data
        try await transaction.stage(
            """
            INSERT INTO blocks AS b (user_id, blocked_id, is_active, customer_sequence)
            VALUES (\(data.userID), \(data.otherID), \(data.isBlocked), \(event.attributes.sequence))
            ON CONFLICT (user_id, blocked_id) DO UPDATE SET is_active = excluded.is_active,
                customer_sequence = excluded.customer_sequence
            WHERE b.customer_sequence < excluded.customer_sequence
            """
        )
    }

    /// Limits are looked up by the tier: the next order keeps to the new ones.
    ///
    /// A tier without limits allows nothing.
    func tierChanged(_ event: Event<UserTierChanged>, _ transaction: EventTransaction) async throws {
        let data = event.data
        try await self.ensure(data.userID, transaction)
        try await transaction.stage(
            "SELECT hear_tier(\(data.userID), \(Int16(clamping: data.tier)), \(event.attributes.sequence))"
        )
    }

    func verified(_ event: Event<CustomerVerified>, _ transaction: EventTransaction) async throws {
        try await self.ensure(event.data.userID, transaction)
        try await transaction.stage(
            """
            UPDATE users SET kyc_status = 'approved', kyc_sequence = \(event.attributes.sequence)
            WHERE id = \(event.data.userID) AND kyc_sequence < \(event.attributes.sequence)
            """
        )
    }

    func opened(_ event: Event<AccountOpened>, _ transaction: EventTransaction) async throws {
        try await self.ensure(event.data.userID, transaction)
        try await transaction.stage(
            """
            UPDATE users SET provider_account = \(event.data.anchorAccountID),
                account_sequence = \(event.attributes.sequence)
            WHERE id = \(event.data.userID) AND account_sequence < \(event.attributes.sequence)
            """
        )
    }

    /// How long the person counts as having a paid plan, grace included; nil: no plan.
    func plan(of user: UUID, until text: String?, _ sequence: Int64, _ transaction: EventTransaction) async throws {
        let end = text.flatMap { Timestamp.parse($0) }
        guard (end == nil) == (text == nil) else { throw EventProblem.undecodableData }
        try await self.ensure(user, transaction)
        try await transaction.stage(
            """
            UPDATE users SET plan = \(end == nil ? "free" : "paid"), active_until = \(end),
                subscription_sequence = \(sequence)
            WHERE id = \(user) AND subscription_sequence < \(sequence)
            """
        )
    }

    /// The person is gone: nothing moves any more.
    ///
    /// The ledger stays, it holds no personal data in the clear.
    func erased(_ event: Event<UserErased>, _ transaction: EventTransaction) async throws {
        try await self.ensure(event.data.userID, transaction)
        try await transaction.stage(
            """
            UPDATE users SET status = 'closed', username = NULL, auth_sequence = \(event.attributes.sequence)
            WHERE id = \(event.data.userID) AND auth_sequence < \(event.attributes.sequence)
            """
        )
        for image in try await RequestImageStore.hide(of: event.data.userID, in: transaction) {
            try await transaction.requeue(
                TransactionJob.discardImage,
                key: image.text,
                subject: event.data.userID.lowercased
            )
        }
        try await self.closeProducts(of: event.data.userID, transaction)
    }

    /// A closed profile is to be erased: answers when it has no money, none is on its way and nothing is open.
    ///
    /// No answer is an answer too: auth asks again.
    func erasureDue(_ event: Event<UserErasureDue>, _ transaction: EventTransaction) async throws {
        let user = event.data.userID
        // Something may have opened again since, such as a request whose payment failed.
        try await self.closeProducts(of: user, transaction)
        guard try await ClosureStore().mayBeErased(user, in: transaction) else { return }
        try await transaction.publish(UserErasureCleared(userID: user), about: UserID(user))
    }

    // MARK: Beneficiaries and devices

    /// The first day of an account begins when it was added, however late that is heard.
    func added(_ event: Event<BeneficiaryAdded>, _ transaction: EventTransaction) async throws {
        let data = event.data
        guard let added = Timestamp.parse(event.attributes.time) else { throw EventProblem.undecodableData }
        try await self.ensure(data.userID, transaction)
        try await transaction.stage(
            """
            SELECT hear_beneficiary(\(data.beneficiaryID), \(data.userID), \(data.anchorCounterpartyID),
                \(data.isDefault), \(data.bankCode), \(added), \(event.attributes.sequence))
            """
        )
    }

    func removed(_ event: Event<BeneficiaryRemoved>, _ transaction: EventTransaction) async throws {
        try await transaction.stage("SELECT hear_removal(\(event.data.beneficiaryID), \(event.data.userID))")
    }

    func defaulted(_ event: Event<BeneficiaryDefaulted>, _ transaction: EventTransaction) async throws {
        let data = event.data
        try await self.ensure(data.userID, transaction)
        try await transaction.stage(
            "SELECT hear_default(\(data.userID), \(data.beneficiaryID), \(event.attributes.sequence))"
        )
    }

    func registered(_ event: Event<DeviceRegistered>, _ transaction: EventTransaction) async throws {
        let data = event.data
        guard let key = Base64URL.decode(data.publicKey), let activated = Timestamp.parse(data.activatedAt) else {
            throw EventProblem.undecodableData
        }
        try await self.ensure(data.userID, transaction)
        try await transaction.stage(
            """
            SELECT note_device(\(data.deviceID), \(data.userID), \(key), \(activated), \(event.attributes.sequence))
            """
        )
    }

    func revoked(_ event: Event<DeviceRevoked>, _ transaction: EventTransaction) async throws {
        try await transaction.stage(
            "SELECT hear_revocation(\(event.data.deviceID), \(event.data.userID), \(event.attributes.sequence))"
        )
    }

    func pinSet(_ event: Event<PINSet>, _ transaction: EventTransaction) async throws {
        try await self.newPIN(event.data.setID, event.data.setAt, of: event.data.userID, event, transaction)
    }

    func pinReset(_ event: Event<PINReset>, _ transaction: EventTransaction) async throws {
        try await self.newPIN(event.data.resetID, event.data.resetAt, of: event.data.userID, event, transaction)
    }

    /// A PIN that nobody had to know another for counts as a new device without a key: it approves nothing by itself, and
    /// what PINs approve is capped by the newest device, since that moment and not since its event came.
    private func newPIN<Data: EventData>(
        _ id: UUID,
        _ text: String,
        of user: UUID,
        _ event: Event<Data>,
        _ transaction: EventTransaction
    ) async throws {
        guard let moment = Timestamp.parse(text) else { throw EventProblem.undecodableData }
        try await self.ensure(user, transaction)
        try await ApprovalFactStore().endPINs(user, event.attributes.sequence, transaction)
        let noKey: [UInt8] = []
        try await transaction.stage(
            "SELECT note_device(\(id), \(user), \(noKey), \(moment), \(event.attributes.sequence))"
        )
    }

    // MARK: Others

    /// A clock that is wrong elsewhere must not make what is known here look fresh, nor stale for ever.
    func beat(_ source: ServiceName, at text: String, _ transaction: EventTransaction) async throws {
        guard let moment = Timestamp.parse(text) else { throw EventProblem.undecodableData }
        try await transaction.stage("SELECT beat(\(source.rawValue), \(moment))")
    }

    /// A correction counts in the month it was made for; one that comes when that month is over has nothing to correct.
    func adjustSlots(_ event: Event<UsageAdjusted>, _ transaction: EventTransaction) async throws {
        try await self.ensure(event.data.userID, transaction)
        try await transaction.stage(
            """
            SELECT adjust_slots(c.user_id, \(Int32(clamping: event.data.delta)), \(transaction.makeID()),
                \(event.attributes.id))
            FROM receiving_counters c
            WHERE c.user_id = \(event.data.userID)
                AND to_char(greatest(c.month, month_of(lagos_day(transfa_now()))), 'YYYY-MM') = \(event.data.month)
            """
        )
    }

    /// Locks what the events of a batch will lock, in the one order of all.
    func lock(_ batch: EventBatch, _ transaction: EventTransaction) async throws {
        let registered = batch.all(DeviceRegistered.self).map { ($0.data.userID, $0.data.activatedAt) }
        let reset = batch.all(PINReset.self).map { ($0.data.userID, $0.data.resetAt) }
        let set = batch.all(PINSet.self).map { ($0.data.userID, $0.data.setAt) }
        let devices = (registered + set + reset).compactMap { user, text in Timestamp.parse(text).map { (user, $0) } }
        let corrected = batch.all(UsageAdjusted.self).map(\.data.userID)
        guard devices.count + corrected.count > 1 else { return }
        try await transaction.stage("SELECT lock_heard(\(devices.map(\.0)), \(devices.map(\.1)), \(corrected))")
    }

    /// Makes the rows of a person of whom nothing was heard yet.
    func ensure(_ user: UUID, _ transaction: EventTransaction) async throws {
        try await transaction.stage("SELECT ensure_users(\([user]))")
    }
}
