import Contracts
import Foundation
import Messaging
import ObjectStorage
import Postgres
import Primitives
import Sealing

/// What transaction knows about people, written from events.
///
/// Columns are grouped by the service that says so, each group with that service's sequence.
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
            UPDATE users SET sending_allowed = \(data.allowSending),
                receive_preference = \(data.receivingPreference == .known(.wallet) ? "wallet" : "external"),
                request_policy = coalesce(\(policy?.rawValue)::text, request_policy),
                customer_sequence = \(event.attributes.sequence)
            WHERE id = \(data.userID) AND customer_sequence < \(event.attributes.sequence)
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
            """
            UPDATE users SET status = CASE WHEN status = 'closed' THEN 'closed' ELSE \(status) END,
                debits_blocked = \(debitsBlocked) OR status = 'closed',
                customer_sequence = \(event.attributes.sequence)
            WHERE id = \(data.userID) AND customer_sequence < \(event.attributes.sequence)
            """
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
            """
            UPDATE users SET tier = \(Int16(clamping: data.tier)), customer_sequence = \(event.attributes.sequence)
            WHERE id = \(data.userID) AND customer_sequence < \(event.attributes.sequence)
            """
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
        if data.isDefault { try await self.clearDefault(data.userID, event.attributes.sequence, transaction) }
        try await transaction.stage(
            """
            INSERT INTO beneficiaries AS b (id, user_id, counterparty_id, verified, is_default, bank_code, added_at,
                customer_sequence)
            VALUES (\(data.beneficiaryID), \(data.userID), \(data.anchorCounterpartyID), true, \(data.isDefault),
                \(data.bankCode), least(\(added), transfa_now()), \(event.attributes.sequence))
            ON CONFLICT (id) DO UPDATE SET counterparty_id = excluded.counterparty_id, verified = true,
                is_default = excluded.is_default, bank_code = coalesce(excluded.bank_code, b.bank_code),
                added_at = coalesce(b.added_at, excluded.added_at),
                customer_sequence = excluded.customer_sequence
            WHERE b.customer_sequence < excluded.customer_sequence
            """
        )
    }

    func removed(_ event: Event<BeneficiaryRemoved>, _ transaction: EventTransaction) async throws {
        try await transaction.stage(
            """
            INSERT INTO beneficiaries AS b (id, user_id, deleted_at, customer_sequence)
            VALUES (\(event.data.beneficiaryID), \(event.data.userID), transfa_now(), \(event.attributes.sequence))
            ON CONFLICT (id) DO UPDATE SET deleted_at = excluded.deleted_at, is_default = false,
                customer_sequence = excluded.customer_sequence
            WHERE b.customer_sequence < excluded.customer_sequence
            """
        )
    }

    func defaulted(_ event: Event<BeneficiaryDefaulted>, _ transaction: EventTransaction) async throws {
        let sequence = event.attributes.sequence
        try await self.clearDefault(event.data.userID, sequence, transaction)
        guard let id = event.data.beneficiaryID else { return }
        try await transaction.stage(
            """
            INSERT INTO beneficiaries AS b (id, user_id, is_default, customer_sequence)
            VALUES (\(id), \(event.data.userID), true, \(sequence))
            ON CONFLICT (id) DO UPDATE SET is_default = true, customer_sequence = excluded.customer_sequence
            WHERE b.customer_sequence <= excluded.customer_sequence AND b.deleted_at IS NULL
            """
        )
    }

    private func clearDefault(_ user: UUID, _ sequence: Int64, _ transaction: EventTransaction) async throws {
        try await transaction.stage(
            """
            UPDATE beneficiaries SET is_default = false, customer_sequence = \(sequence)
            WHERE user_id = \(user) AND is_default AND customer_sequence < \(sequence)
            """
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
            """
            UPDATE devices SET revoked_at = transfa_now(), auth_sequence = \(event.attributes.sequence)
            WHERE id = \(event.data.deviceID) AND auth_sequence < \(event.attributes.sequence)
            """
        )
    }

    /// A reset PIN counts as a new device without a key: it approves nothing by itself, and what PINs approve is capped
    /// by the newest device, since the reset and not since its event came.
    func pinReset(_ event: Event<PINReset>, _ transaction: EventTransaction) async throws {
        guard let moment = Timestamp.parse(event.data.resetAt) else { throw EventProblem.undecodableData }
        try await self.ensure(event.data.userID, transaction)
        let noKey: [UInt8] = []
        try await transaction.stage(
            """
            SELECT note_device(\(event.data.resetID), \(event.data.userID), \(noKey), \(moment),
                \(event.attributes.sequence))
            """
        )
    }

    // MARK: Others

    /// A clock that runs ahead elsewhere must not make what is known here look fresh for longer.
    func beat(_ source: ServiceName, at text: String, _ transaction: EventTransaction) async throws {
        guard let moment = Timestamp.parse(text) else { throw EventProblem.undecodableData }
        try await transaction.stage("SELECT beat(\(source.rawValue), least(\(moment), transfa_now()))")
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

    /// Makes the rows of a person of whom nothing was heard yet.
    func ensure(_ user: UUID, _ transaction: EventTransaction) async throws {
        try await transaction.stage("SELECT ensure_users(\([user]))")
    }
}
