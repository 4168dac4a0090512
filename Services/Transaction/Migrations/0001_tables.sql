-- The tables of transaction. What its functions are, and who may call them, is in Functions.
--
-- Money is whole kobo. A transfer holds its money at acceptance and moves it at completion, so a refused or failed
-- payment leaves no entry behind. Every transfer's entries sum to zero; an account's entries are numbered 1..n and
-- carry the running balance. Only the functions write here; nobody updates or deletes an entry.
--
-- Locks are taken in ONE global order, each step sorted by its key, in a statement of its own:
--     transfers  ->  balances  ->  receiving_counters  ->  money_drops  ->  drop_slots  ->  payment_requests
--         ->  balances of `receivable` accounts: only who holds a wallet knows that it owes
-- A sender's balances row is the mutex of everything that sender owns (funds, spending, keys, nonces, devices' first
-- day, charges). A recipient's receiving_counters row is the mutex of its free slots, of the ceiling of its wallet and
-- of how many requests it has open. A claim locks one slot and no drop; whoever locks several slots holds their drop.

-- Who acts for us. One person has one spelling: rules about two people compare names.
CREATE DOMAIN operator_name AS text COLLATE "C" CHECK (VALUE ~ '^[a-z0-9._@-]{1,64}$');

-- The ledger ---------------------------------------------------------------------------------------------------------

CREATE SEQUENCE ledger_account_ids START 1000;           -- below 1000: the system's own accounts, see system_account()

CREATE TABLE ledger_accounts (
    id              bigint PRIMARY KEY DEFAULT nextval('ledger_account_ids'),
    kind            text COLLATE "C" NOT NULL CHECK (kind IN ('wallet', 'drop_pool', 'provider_clearing', 'fees',
                    'stamp_duty', 'revenue', 'receivable', 'suspense', 'provider_costs')),
    owner_id        uuid,                                -- the user of a wallet, the drop of a pool
    created_at      timestamptz NOT NULL,
    CHECK ((owner_id IS NOT NULL) = (kind IN ('wallet', 'drop_pool')))
);
CREATE UNIQUE INDEX ledger_accounts_owner ON ledger_accounts (owner_id, kind) WHERE owner_id IS NOT NULL;

-- One row per account, updated in place. Nothing that changes with a payment is indexed and pages keep room, so updates
-- stay cheap.
CREATE TABLE balances (
    account_id      bigint PRIMARY KEY,
    posted          bigint NOT NULL DEFAULT 0,
    held            bigint NOT NULL DEFAULT 0 CHECK (held >= 0),
    sequence        bigint NOT NULL DEFAULT 0,           -- number of the account's last entry
    checked         boolean NOT NULL DEFAULT true,       -- false: a system account, which may go below zero
    debits_blocked  boolean NOT NULL DEFAULT false,      -- set when a reversal found the money spent
    owed            bigint NOT NULL DEFAULT 0 CHECK (owed >= 0), -- by a wallet or a pool; paid by what comes in
    CHECK (NOT checked OR posted - held >= 0)
) WITH (fillfactor = 70);
CREATE INDEX balances_blocked ON balances (account_id) WHERE debits_blocked;

CREATE TABLE transfers (
    id                  uuid PRIMARY KEY,                -- UUIDv7 from the caller: inserts at the right edge
    reference           text COLLATE "C" NOT NULL UNIQUE,    -- also the provider's reference and idempotency key
    type                text COLLATE "C" NOT NULL CHECK (type IN ('p2p', 'self_transfer', 'money_drop', 'drop_claim',
                        'drop_refund', 'subscription_charge', 'inbound', 'release')),
    state               text COLLATE "C" NOT NULL
                        CHECK (state IN ('accepted', 'submitted', 'unknown', 'completed', 'failed', 'reversed')),
    sequence            bigint NOT NULL,                 -- of the last event with this transfer as subject
    steps               smallint NOT NULL DEFAULT 1,     -- rows in transfer_steps
    sender_id           uuid,
    recipient_id        uuid,
    recipient_username  text COLLATE "C",
    debit_account       bigint NOT NULL,
    credit_account      bigint NOT NULL,
    amount              bigint NOT NULL CHECK (amount > 0),
    fee                 bigint NOT NULL DEFAULT 0 CHECK (fee >= 0),
    duty                bigint NOT NULL DEFAULT 0 CHECK (duty >= 0),
    route               text COLLATE "C" NOT NULL CHECK (route IN ('external', 'internal')),
    route_reason        text COLLATE "C" NOT NULL,       -- see recipient_facts() and order_route_reason()
    first_route         text COLLATE "C",                -- of an order, as it was answered: a switch changes the others
    first_fee           bigint,
    first_duty          bigint,
    answer_version      smallint,                        -- of an order: in which version its answer is written
    source_account      text,                            -- the provider's account the money leaves
    beneficiary_id      uuid,                            -- external only
    destination         text,                            -- counterparty or deposit account, frozen
    slot_month          date,                            -- the month whose free slot this transfer holds
    incoming_counted    boolean NOT NULL DEFAULT false,  -- counted in the recipient's pending incoming amount
    spent_day           date,                            -- Lagos day and month the sender's limits were counted in
    spent_month         date,
    device_id           uuid,                            -- the device that approved; null: PIN
    capped_device_id    uuid,                            -- the new device whose first-day total holds this amount
    description         text,                            -- sealed
    api_route           text COLLATE "C",
    idempotency_key     text COLLATE "C",
    request_key         bytea UNIQUE,                    -- of sender, API route and key: once only, for ever
    request_hash        bytea,
    payment_request_id  uuid,
    parent_id           uuid,                           -- the drop of a claim or refund; what held a release, is billed
    correlation_id      uuid,
    traceparent         text,
    provider_id         text COLLATE "C",
    failure_reason      text,
    created_at          timestamptz NOT NULL,
    submitted_at        timestamptz,
    ended_at            timestamptz,
    CHECK ((idempotency_key IS NULL) = (request_key IS NULL) AND (api_route IS NULL) = (request_key IS NULL)),
    CHECK ((answer_version IS NULL) = (request_key IS NULL))
) WITH (fillfactor = 80);
CREATE INDEX transfers_sent ON transfers (sender_id, id DESC);
CREATE INDEX transfers_received ON transfers (recipient_id, id DESC);
-- The provider's messages name its own id and not always our reference.
CREATE INDEX transfers_provider ON transfers (provider_id) WHERE provider_id IS NOT NULL;
CREATE INDEX transfers_parent ON transfers (parent_id, id DESC) WHERE parent_id IS NOT NULL;
CREATE INDEX transfers_payment_request ON transfers (payment_request_id) WHERE payment_request_id IS NOT NULL;
-- Without the state, so that a payment that ends changes no index.
CREATE INDEX transfers_pair ON transfers (pair_of(sender_id, recipient_id)) WHERE type = 'p2p';
-- Transfers of the account that holds drops: it belongs to no user, by whom others are found.
CREATE INDEX transfers_of_pools ON transfers (id) WHERE type IN ('money_drop', 'drop_claim', 'drop_refund');
CREATE INDEX transfers_in_suspense ON transfers (id) WHERE route_reason = 'suspense';
-- Newest first, without reading what goes to wallets.
CREATE INDEX transfers_to_banks ON transfers (id DESC) WHERE route = 'external';

-- What happened to a transfer, who caused it and on what evidence. Append only.
CREATE TABLE transfer_steps (
    transfer_id     uuid NOT NULL,
    step            smallint NOT NULL,
    state           text COLLATE "C" NOT NULL,
    actor           text NOT NULL,
    cause           uuid,                                -- the event that led to it
    evidence        text,
    happened_at     timestamptz NOT NULL,
    PRIMARY KEY (transfer_id, step)
);
-- Operators list transfers by their state. An index on the state itself would make each step of each transfer dearer;
-- in the history only what seldom happens has one.
CREATE INDEX transfer_steps_seldom ON transfer_steps (state, happened_at)
    WHERE state IN ('unknown', 'failed', 'reversed');

CREATE TABLE holds (
    transfer_id     uuid PRIMARY KEY,
    account_id      bigint NOT NULL,
    amount          bigint NOT NULL CHECK (amount > 0),  -- amount, fee and duty together
    state           text COLLATE "C" NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'posted', 'released'))
) WITH (fillfactor = 80);

-- Append only. `leg` says what the money was, so that fees and duty have lines of their own.
CREATE TABLE entries (
    account_id      bigint NOT NULL,
    sequence        bigint NOT NULL,
    amount          bigint NOT NULL CHECK (amount <> 0),
    balance_after   bigint NOT NULL,
    leg             text COLLATE "C" NOT NULL CHECK (leg IN
                    ('amount', 'fee', 'duty', 'reversal', 'reversed_fee', 'reversed_duty', 'receivable',
                    'collected', 'given_back')),
    transfer_id     uuid NOT NULL,
    posted_at       timestamptz NOT NULL,
    PRIMARY KEY (account_id, sequence)
);
CREATE INDEX entries_transfer ON entries (transfer_id);

-- An approval works once, also when it was refused.
CREATE TABLE approval_nonces (
    user_id         uuid NOT NULL,
    nonce           uuid NOT NULL,
    used_at         timestamptz NOT NULL,
    PRIMARY KEY (user_id, nonce)
);
-- Old nonces are looked for every ten seconds, so by their age.
CREATE INDEX approval_nonces_used ON approval_nonces (used_at);

-- Money that came in from outside: one row, and so one credit, per payment of the provider.
CREATE TABLE inbound_payments (
    provider_payment_id text COLLATE "C" PRIMARY KEY,
    provider_account    text COLLATE "C" NOT NULL,
    user_id             uuid,                            -- null: on an account that belonged to nobody we knew
    amount              bigint NOT NULL CHECK (amount > 0),
    reference           text COLLATE "C",
    disposition         text COLLATE "C" NOT NULL CHECK (disposition IN ('credited', 'suspense', 'matched')),
    transfer_id         uuid NOT NULL,
    received_at         timestamptz NOT NULL
);
CREATE INDEX inbound_payments_account ON inbound_payments (provider_account, received_at);
CREATE INDEX inbound_payments_matched ON inbound_payments (transfer_id) WHERE disposition = 'matched';

-- What begin_submission() and begin_resend() say of each transfer of a batch.
CREATE TYPE submission_step AS (
    ord integer, transfer_id uuid, verdict text, kind text, reference text, attempt integer, source_account text,
    destination text, amount bigint, currency text, description text, must_query_first boolean, not_before timestamptz,
    reason text, sender_id uuid, correlation_id uuid, traceparent text
);

-- A provider that says "not found" about a transfer of ours. See record_absence().
CREATE TABLE transfer_absences (
    transfer_id     uuid NOT NULL,
    attempt         integer NOT NULL,
    first_seen_at   timestamptz NOT NULL,
    last_seen_at    timestamptz NOT NULL,
    PRIMARY KEY (transfer_id, attempt)
);

-- The session of a NIP transfer, as soon as the provider has told it: receipts show by which id the banks find it.
CREATE TABLE provider_sessions (
    transfer_id     uuid PRIMARY KEY,
    session_id      text COLLATE "C" NOT NULL
);

-- Contradictions between the provider and us. People close them; no code flips a state because of one.
CREATE TABLE breaks (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    transfer_id     uuid,
    kind            text COLLATE "C" NOT NULL,
    state           text COLLATE "C" NOT NULL,           -- ours, as it was then
    evidence        text,                                -- theirs, where they sent some
    opened_at       timestamptz NOT NULL,
    closed_at       timestamptz,
    closed_by       text,
    resolution      text
);
CREATE UNIQUE INDEX breaks_open ON breaks (transfer_id, kind) WHERE closed_at IS NULL;

-- System accounts: sixteen sub-accounts of each kind, chosen by the transfer's random last byte, so that none of
-- them is a hot row. See system_account().
INSERT INTO ledger_accounts (id, kind, created_at)
SELECT k.base + sub, k.kind, transfa_now()
FROM (VALUES ('provider_clearing', 16), ('fees', 32), ('stamp_duty', 48), ('revenue', 64), ('receivable', 80),
             ('suspense', 96), ('provider_costs', 112)) AS k(kind, base)
CROSS JOIN generate_series(0, 15) AS sub;

INSERT INTO balances (account_id, checked) SELECT id, false FROM ledger_accounts;

-- Nobody rewrites history, not even the owner.
CREATE TRIGGER entries_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON entries
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();
CREATE TRIGGER transfer_steps_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON transfer_steps
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();
CREATE TRIGGER transfers_are_kept BEFORE DELETE OR TRUNCATE ON transfers
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();

-- What the service knows about people --------------------------------------------------------------------------------
-- Filled from events of other services; the money path asks nobody.
--
-- Each fact has the sequence of the newest event that told it: events of different services interleave freely, and
-- those of one may be heard in another order too, so an update names its fact's sequence and ignores what is older. Any
-- event may be the first that mentions a user; ensure_users() makes the row and everything the ledger needs beside it.

CREATE TABLE users (
    id                      uuid PRIMARY KEY,
    wallet_id               bigint NOT NULL UNIQUE,      -- ledger account
    created_at              timestamptz NOT NULL,

    username                text COLLATE "C" UNIQUE,     -- auth
    account_type            text COLLATE "C" NOT NULL DEFAULT 'personal',
    auth_sequence           bigint NOT NULL DEFAULT 0,

    status                  text COLLATE "C" NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'frozen', 'closed')),
    sending_allowed         boolean NOT NULL DEFAULT true,   -- customer; false: receive-only
    debits_blocked          boolean NOT NULL DEFAULT false,
    credits_blocked         boolean NOT NULL DEFAULT false,
    receive_preference      text COLLATE "C" NOT NULL DEFAULT 'external'
                            CHECK (receive_preference IN ('external', 'wallet')),
    restriction_sequence    bigint NOT NULL DEFAULT 0,   -- of status and debits_blocked
    settings_sequence       bigint NOT NULL DEFAULT 0,   -- of sending_allowed, receive_preference and request_policy
    tier_sequence           bigint NOT NULL DEFAULT 0,
    default_sequence        bigint NOT NULL DEFAULT 0,   -- of which of the beneficiaries is the default

    kyc_status              text COLLATE "C" NOT NULL DEFAULT 'pending'
                            CHECK (kyc_status IN ('pending', 'approved', 'rejected')),
    tier                    smallint NOT NULL DEFAULT 1,
    kyc_sequence            bigint NOT NULL DEFAULT 0,

    provider_account        text COLLATE "C" UNIQUE,     -- account; null until the provider opened it
    account_sequence        bigint NOT NULL DEFAULT 0,

    plan                    text COLLATE "C" NOT NULL DEFAULT 'free',    -- subscription
    active_until            timestamptz,
    subscription_sequence   bigint NOT NULL DEFAULT 0,

    request_policy          text COLLATE "C" NOT NULL DEFAULT 'everyone' -- customer: who may ask them for money
                            CHECK (request_policy IN ('everyone', 'contacts', 'nobody')),

    emptied_at              timestamptz                  -- ours: since when what reaches the closed wallet leaves it
);

-- Closed is the last word: nothing that is heard later opens a profile again.
CREATE TRIGGER closed_for_good BEFORE UPDATE OF status ON users FOR EACH ROW
    WHEN (OLD.status = 'closed' AND NEW.status <> 'closed') EXECUTE FUNCTION refuse_reopening();

CREATE TABLE beneficiaries (
    id                  uuid PRIMARY KEY,
    user_id             uuid NOT NULL,
    counterparty_id     text COLLATE "C",                -- at the provider
    verified            boolean NOT NULL DEFAULT false,
    is_default          boolean NOT NULL DEFAULT false,
    deleted_at          timestamptz,
    customer_sequence   bigint NOT NULL DEFAULT 0,       -- of the account; which is the default: users.default_sequence
    bank_code           text COLLATE "C",                -- null: added before it was told
    added_at            timestamptz                      -- null: added before this was noted
);
CREATE INDEX beneficiaries_user ON beneficiaries (user_id);

CREATE TABLE devices (
    id                  uuid PRIMARY KEY,
    user_id             uuid NOT NULL,
    public_key          bytea NOT NULL,
    activated_at        timestamptz NOT NULL,
    revoked_at          timestamptz,
    auth_sequence       bigint NOT NULL DEFAULT 0,
    first_day_total     bigint NOT NULL DEFAULT 0 CHECK (first_day_total >= 0)   -- ours: sent while the device was new
) WITH (fillfactor = 80);
CREATE INDEX devices_user ON devices (user_id, activated_at DESC, id DESC);

-- Whom people have blocked: they are neither paid nor asked by them.
CREATE TABLE blocks (
    user_id             uuid NOT NULL,                   -- who has blocked
    blocked_id          uuid NOT NULL,
    is_active           boolean NOT NULL,                -- false: blocked once, and no longer
    customer_sequence   bigint NOT NULL,
    PRIMARY KEY (user_id, blocked_id)
);

-- The newest sign of life of each service the read model depends on, and by how much its clock is behind, see beat().
CREATE TABLE source_heartbeats (
    source              text COLLATE "C" PRIMARY KEY,
    beat_at             timestamptz NOT NULL,            -- until when, by our clock, all is heard
    behind              interval NOT NULL DEFAULT '0',   -- negative: it is ahead
    watched_from        timestamptz NOT NULL DEFAULT '-infinity',
    beats               integer NOT NULL DEFAULT 0,      -- since then, and how old they were when they were heard
    youngest            interval,
    oldest              interval
);
INSERT INTO source_heartbeats (source, beat_at)
VALUES ('auth', '-infinity'), ('customer', '-infinity'), ('subscription', '-infinity');

-- Limits, fees and counters ------------------------------------------------------------------------------------------
-- Limits and fees are dated configuration: a row counts from valid_from until a newer one of the same key begins.
-- Counters are one rolling row per user, made with the user, so there is always a row to lock. They only move forward:
-- two replicas with clocks a second apart must not reset a day twice.

CREATE TABLE tier_limits (
    tier            smallint NOT NULL,                   -- KYC tier
    valid_from      timestamptz NOT NULL,
    per_transfer    bigint NOT NULL,
    per_day         bigint NOT NULL,
    per_month       bigint NOT NULL,
    maximum_balance bigint,                              -- null: no ceiling, and nobody waits for its row
    PRIMARY KEY (tier, valid_from)
);
INSERT INTO tier_limits VALUES
    (0, '-infinity', 0, 0, 0, 0),
    (1, '-infinity', 5000000, 5000000, 150000000, 30000000),
    (2, '-infinity', 20000000, 20000000, 600000000, 50000000),
    (3, '-infinity', 500000000, 500000000, 15000000000, NULL);

-- Lower limits that users set for themselves; null: none.
CREATE TABLE user_limits (
    user_id             uuid PRIMARY KEY,
    per_transfer        bigint CHECK (per_transfer >= 0),
    per_day             bigint CHECK (per_day >= 0),
    per_month           bigint CHECK (per_month >= 0),
    customer_sequence   bigint NOT NULL DEFAULT 0
);

-- What one newly activated device may send in its first hours.
CREATE TABLE device_caps (
    valid_from      timestamptz PRIMARY KEY,
    cap             bigint NOT NULL,
    lasting         interval NOT NULL
);
INSERT INTO device_caps VALUES ('-infinity', 2000000, '24 hours');

-- What a person's newly added bank accounts take together in their first hours: whoever has got hold of a phone adds an
-- account and empties the wallet into it.
CREATE TABLE beneficiary_caps (
    valid_from      timestamptz PRIMARY KEY,
    cap             bigint NOT NULL,
    lasting         interval NOT NULL
);
INSERT INTO beneficiary_caps VALUES ('-infinity', 2000000, '24 hours');

-- A cap as the functions of caps.sql say it, of a device, a bank account, a payer or a drop where it is of one.
CREATE TYPE cap AS (
    code text, unit text, most bigint, used bigint, until timestamptz, device_id uuid, beneficiary_id uuid,
    payer_id uuid, drop_id uuid
);

-- The least that the provider takes to a bank. What is less is paid into the recipient's wallet.
CREATE TABLE bank_minimums (
    valid_from      timestamptz PRIMARY KEY,
    amount          bigint NOT NULL CHECK (amount > 0)
);
INSERT INTO bank_minimums VALUES ('-infinity', 100);

-- The least that takes one of a recipient's free slots: else a stranger uses them up with a few kobo, and a salary goes
-- to the wallet for the rest of the month. What is less is paid into the wallet, unless the recipient's plan pays. A
-- hundred naira: less is seldom what somebody waits for at their bank.
CREATE TABLE slot_minimums (
    valid_from      timestamptz PRIMARY KEY,
    amount          bigint NOT NULL CHECK (amount > 0)
);
INSERT INTO slot_minimums VALUES ('-infinity', 10000);

-- How little payers learn of what still fits into somebody's wallet, which tells what is in it. The room counts in
-- whole steps, and after so many refusals a day of one payer at one wallet all that they send into it is refused.
CREATE TABLE room_steps (
    valid_from      timestamptz PRIMARY KEY,
    step            bigint NOT NULL CHECK (step > 0),
    refusals        integer NOT NULL CHECK (refusals > 0)
);
INSERT INTO room_steps VALUES ('-infinity', 1000000, 3);

-- The newest valid_from of a type and route is the version in force; in it the highest band not above the amount.
-- Every version must begin with a band from zero.
CREATE TABLE fee_schedule (
    type            text COLLATE "C" NOT NULL,
    route           text COLLATE "C" NOT NULL CHECK (route IN ('external', 'internal')),
    valid_from      timestamptz NOT NULL,
    amount_from     bigint NOT NULL,
    fee             bigint NOT NULL CHECK (fee >= 0),
    duty            bigint NOT NULL CHECK (duty >= 0),
    PRIMARY KEY (type, route, valid_from, amount_from)
);
INSERT INTO fee_schedule VALUES
    ('p2p', 'external', '-infinity', 0, 0, 0),
    ('p2p', 'internal', '-infinity', 0, 0, 0),
    ('self_transfer', 'external', '-infinity', 0, 0, 0),
    ('money_drop', 'internal', '-infinity', 0, 0, 0);

-- As a sender: what the limits have counted. Written while the sender's balances row is locked.
CREATE TABLE spending_counters (
    user_id         uuid PRIMARY KEY,
    day             date NOT NULL DEFAULT '2000-01-01',  -- in Lagos
    day_total       bigint NOT NULL DEFAULT 0 CHECK (day_total >= 0),
    month           date NOT NULL DEFAULT '2000-01-01',
    month_total     bigint NOT NULL DEFAULT 0 CHECK (month_total >= 0)
) WITH (fillfactor = 70);

-- As a recipient: free slots of the month, and book transfers on their way into a wallet that has a ceiling.
CREATE TABLE receiving_counters (
    user_id         uuid PRIMARY KEY,
    month           date NOT NULL DEFAULT '2000-01-01',
    slots_used      integer NOT NULL DEFAULT 0 CHECK (slots_used >= 0),
    slots_adjusted  integer NOT NULL DEFAULT 0,          -- by subscription's usage.adjusted, this month
    slots_forgiven  integer NOT NULL DEFAULT 0 CHECK (slots_forgiven >= 0),    -- of these, what was given back
    event_sequence  bigint NOT NULL DEFAULT 0,           -- of external_slot events, whose subject is the user
    incoming        bigint NOT NULL DEFAULT 0 CHECK (incoming >= 0)
) WITH (fillfactor = 70);

-- Orders -------------------------------------------------------------------------------------------------------------

-- Refusals that the same request gets again, some only as long as it comes with the approval that was refused, see
-- refusal_kind(); what was accepted answers from its transfer. Refusals are kept 30 days.
CREATE TABLE refused_orders (
    user_id         uuid NOT NULL,
    route           text COLLATE "C" NOT NULL,           -- of the API
    key             text COLLATE "C" NOT NULL,           -- Idempotency-Key
    request_hash    bytea NOT NULL,
    code            text COLLATE "C" NOT NULL,
    nonce           uuid NOT NULL,                       -- of the approval
    created_at      timestamptz NOT NULL,
    PRIMARY KEY (user_id, route, key)
);
CREATE INDEX refused_orders_age ON refused_orders (created_at);

-- How often a payer was told today that an amount does not fit into somebody's wallet. Written while the sender's
-- balances row is locked.
CREATE TABLE room_refusals (
    sender_id       uuid NOT NULL,
    recipient_id    uuid NOT NULL,
    day             date NOT NULL,                       -- in Lagos
    refusals        integer NOT NULL,
    PRIMARY KEY (sender_id, recipient_id)
);
CREATE INDEX room_refusals_day ON room_refusals (day);

-- What is known of an order when it is decided. What is "left" is what may still be sent; null where nothing limits it.
CREATE TYPE order_facts AS (
    -- The order, and the first of the batch that has the same.
    ord integer, id uuid, sender_id uuid, recipient text, amount bigint, description text, api_route text, key text,
    hash bytea, nonce uuid, device_id uuid, created_event uuid, rerouted_event uuid, slot_event uuid,
    correlation_id uuid, traceparent text, type text, target uuid, details jsonb,
    at_sender integer, at_key integer, at_nonce integer, at_recipient integer, at_target integer,
    quote_cost bigint, quote_expires_at timestamptz,
    drop_amount_per_claim bigint, drop_slots integer, drop_expires_at timestamptz, drop_pool_account text,
    drop_link text, drop_password_hash text,
    -- What was answered under its key, and the approval.
    stored_hash bytea, stored_code text, stored_nonce uuid, stored_transfer uuid, recovering boolean,
    nonce_used boolean,
    known_device uuid, device_revoked boolean, at_device integer, device_left bigint,
    -- The sender.
    known_sender uuid, wallet_id bigint, source_account text, sending_allowed boolean, restricted boolean,
    available bigint, per_transfer bigint, day_left bigint, month_left bigint, spent_day date, spent_month date,
    -- The recipient of a payment.
    recipient_id uuid, recipient_wallet bigint, recipient_account text, unavailable boolean, external_refusal text,
    beneficiary_id uuid, counterparty_id text, plan_active boolean, recipient_locked boolean, slot_month date,
    slots_used integer, slot_events bigint, recipient_left bigint, room_refusals integer,
    -- The bank account of a withdrawal.
    own_bank uuid, own_verified boolean, own_counterparty text, own_idle boolean, own_left bigint,
    -- The payment request that it pays.
    request_id uuid, request_owner uuid, request_payer uuid, request_state text, request_amount bigint,
    request_multiple boolean, request_expires_at timestamptz,
    -- What each route costs, the least that may leave for a bank and that takes a free slot, and what is told of room.
    external_fee bigint, external_duty bigint, internal_fee bigint, internal_duty bigint, bank_minimum bigint,
    slot_minimum bigint, room_step bigint, room_tries integer,
    -- What is decided.
    now timestamptz, code text, route text, route_reason text, fee bigint, duty bigint
);

-- Money drops --------------------------------------------------------------------------------------------------------
-- A drop is a pool of slots. Its money has a ledger account of its own; each slot is a fixed part of it, and a slot's
-- state says where that part is. Claims and refunds place no hold: the slot they took is the reservation, so claimants
-- of one drop never wait for the pool's balance.
--
--     drop     pending -> open -> ended         pending -> failed (the funding failed)
--     slot     open -> claimed -> paid          claimed -> open | closed (evidence that the claim failed)
--              open -> closed -> refunding -> refunded      refunding -> closed (evidence that the refund failed)
--              void: there is no money behind it

CREATE TABLE money_drops (
    id                  uuid PRIMARY KEY,                -- random: who has the link may claim
    position            bigint NOT NULL UNIQUE GENERATED BY DEFAULT AS IDENTITY,    -- order of lists
    creator_id          uuid NOT NULL,
    pool_id             bigint NOT NULL UNIQUE,          -- ledger account
    pool_account        text COLLATE "C" NOT NULL,       -- the provider's account that holds the money
    funding_id          uuid NOT NULL UNIQUE,            -- transfer: creator to pool
    amount_per_claim    bigint NOT NULL CHECK (amount_per_claim > 0),
    slots               integer NOT NULL CHECK (slots BETWEEN 1 AND 1000),
    title               text,                            -- sealed
    password_hash       text,
    link                text NOT NULL,
    state               text COLLATE "C" NOT NULL DEFAULT 'pending'
                        CHECK (state IN ('pending', 'open', 'ended', 'failed')),
    end_reason          text COLLATE "C" CHECK (end_reason IN ('expired', 'ended', 'claimed', 'funding_failed',
                        'funding_reversed')),
    sequence            bigint NOT NULL DEFAULT 0,       -- of the last event with this drop as subject
    refund_failures     smallint NOT NULL DEFAULT 0,
    refund_after        timestamptz NOT NULL DEFAULT '-infinity',
    expires_at          timestamptz NOT NULL,
    created_at          timestamptz NOT NULL,
    opened_at           timestamptz,
    ended_at            timestamptz,
    has_money           boolean NOT NULL DEFAULT false,  -- in its pool
    given_back          bigint NOT NULL DEFAULT 0 CHECK (given_back >= 0),  -- by refunds: no longer counts as sent
    CHECK ((state IN ('ended', 'failed')) = (end_reason IS NOT NULL))
) WITH (fillfactor = 80);
CREATE INDEX money_drops_creator ON money_drops (creator_id, position DESC);
-- What may come back to a creator counts towards the ceiling of their wallet, and each order asks for it.
CREATE INDEX money_drops_with_money ON money_drops (creator_id) WHERE has_money;
CREATE INDEX money_drops_due ON money_drops (expires_at) WHERE state = 'open';

CREATE TABLE drop_slots (
    drop_id             uuid NOT NULL,
    position            integer NOT NULL,
    state               text COLLATE "C" NOT NULL DEFAULT 'open'
                        CHECK (state IN ('open', 'claimed', 'paid', 'closed', 'refunding', 'refunded', 'void')),
    claimant_id         uuid,
    transfer_id         uuid,                            -- the claim, or the refund
    claimed_at          timestamptz,
    PRIMARY KEY (drop_id, position),
    CHECK ((claimant_id IS NOT NULL) = (state IN ('claimed', 'paid'))),
    CHECK ((transfer_id IS NOT NULL) = (state IN ('claimed', 'paid', 'refunding', 'refunded')))
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX drop_slots_person ON drop_slots (drop_id, claimant_id) WHERE claimant_id IS NOT NULL;
CREATE INDEX drop_slots_claimant ON drop_slots (claimant_id, transfer_id DESC) WHERE claimant_id IS NOT NULL;
CREATE INDEX drop_slots_transfer ON drop_slots (transfer_id) WHERE transfer_id IS NOT NULL;
CREATE INDEX drop_slots_open ON drop_slots (drop_id, position) WHERE state = 'open';
CREATE INDEX drop_slots_closed ON drop_slots (drop_id) WHERE state = 'closed';

-- Wrong passwords, so that a drop's password cannot be searched for.
CREATE TABLE drop_password_failures (
    drop_id             uuid NOT NULL,
    user_id             uuid NOT NULL,
    failures            integer NOT NULL,
    last_failed_at      timestamptz NOT NULL,
    PRIMARY KEY (drop_id, user_id)
);
CREATE INDEX drop_password_failures_user ON drop_password_failures (user_id);

-- Payment requests ---------------------------------------------------------------------------------------------------
--
--     request  open -> processing -> fulfilled  processing -> open (the payment failed)
--              open -> declined | cancelled | expired
-- One that many may pay stays open while it is paid, and counts what has arrived.

CREATE TABLE payment_requests (
    id                  uuid PRIMARY KEY,                -- random: who has the link may see and pay it
    position            bigint NOT NULL UNIQUE GENERATED BY DEFAULT AS IDENTITY,
    owner_id            uuid NOT NULL,                   -- who asks for the money
    payer_id            uuid,                            -- who is asked; null: whoever has the link
    amount              bigint CHECK (amount > 0),       -- null: the payer chooses
    description         text,                            -- sealed with the owner's key
    link                text NOT NULL,
    state               text COLLATE "C" NOT NULL DEFAULT 'open'
                        CHECK (state IN ('open', 'processing', 'fulfilled', 'declined', 'cancelled', 'expired')),
    transfer_id         uuid,                            -- the payment that is under way, or has fulfilled it
    sequence            bigint NOT NULL DEFAULT 0,
    expires_at          timestamptz NOT NULL,
    created_at          timestamptz NOT NULL,
    ended_at            timestamptz,
    image_key           text COLLATE "C",                -- the one that is shown
    -- The owner's number of a sale: no free text, so it is kept readable and can be looked for.
    reference           text COLLATE "C" CHECK (reference ~ '^[A-Za-z0-9._/-]{1,40}$'),
    multiple            boolean NOT NULL DEFAULT false,  -- whoever has the link may pay it, as often as they like
    paid_count          bigint NOT NULL DEFAULT 0 CHECK (paid_count >= 0),
    paid_total          bigint NOT NULL DEFAULT 0 CHECK (paid_total >= 0),
    CHECK ((transfer_id IS NOT NULL) = (state IN ('processing', 'fulfilled'))),
    CHECK (NOT multiple OR payer_id IS NULL AND state NOT IN ('processing', 'fulfilled', 'declined'))
) WITH (fillfactor = 80);
CREATE INDEX payment_requests_owner ON payment_requests (owner_id, position DESC);
-- Read by the index a page of requests costs what it shows. What was cancelled is not the payer's to see.
CREATE INDEX payment_requests_payer ON payment_requests (payer_id, position DESC)
    WHERE payer_id IS NOT NULL AND state <> 'cancelled';
CREATE INDEX payment_requests_payer_reference ON payment_requests (payer_id, reference, position DESC)
    WHERE payer_id IS NOT NULL AND reference IS NOT NULL AND state <> 'cancelled';
CREATE INDEX payment_requests_reference ON payment_requests (owner_id, reference, position DESC)
    WHERE reference IS NOT NULL;
CREATE INDEX payment_requests_asked ON payment_requests (owner_id, created_at DESC) WHERE payer_id IS NOT NULL;
CREATE INDEX payment_requests_unended ON payment_requests (owner_id) WHERE state IN ('open', 'processing');
CREATE INDEX payment_requests_due ON payment_requests (expires_at) WHERE state = 'open';
CREATE INDEX payment_requests_image ON payment_requests (owner_id) WHERE image_key IS NOT NULL;

-- A row of an image is written before the object is put into the store, and deleted after the object is: whatever
-- crashes, the job discard_image finds every object that no request shows.
CREATE TABLE request_images (
    key             text COLLATE "C" PRIMARY KEY,        -- random; who knows it may see the image
    request_id      uuid NOT NULL REFERENCES payment_requests (id),
    user_id         uuid NOT NULL,                       -- the request's owner
    content_type    text COLLATE "C" NOT NULL,
    is_uploaded     boolean NOT NULL DEFAULT false,      -- its bytes are kept, and it was shown
    created_at      timestamptz NOT NULL
);
CREATE INDEX request_images_user ON request_images (user_id);

-- Subscription charges -----------------------------------------------------------------------------------------------
-- The price of a plan: from a wallet to revenue, in our own books alone.
--
-- A charge is named by its person and the day on which the period begins, `sub-<user>-<yyyymmdd>`; that is the
-- reference of its transfer too, and references are unique, so nobody pays twice for a period whatever is repeated.
-- A refused charge may be tried again by the next attempt.

CREATE TABLE subscription_charges (
    reference       text COLLATE "C" PRIMARY KEY,
    user_id         uuid NOT NULL,
    attempt         integer NOT NULL CHECK (attempt > 0),    -- the last one that was answered
    reason          text COLLATE "C",                        -- why it was refused
    transfer_id     uuid,                                    -- what paid it
    sequence        bigint NOT NULL,                         -- of the last event with this charge as subject
    decided_at      timestamptz NOT NULL,
    CHECK (reference ~ ('^sub-' || user_id || '-\d{8}$')),
    CHECK ((reason IS NULL) = (transfer_id IS NOT NULL))
);

-- What people decide -------------------------------------------------------------------------------------------------

-- Money in suspense leaves it when two operators say so: one proposes with a reason, another approves.
--     credit    into the wallet: the money is at the recipient's account already
--     return    to who sent it: an order to the provider for a payment between people, by hand for money from outside
--     payout    to a bank account of somebody who is gone: an order to the provider
-- Posted once, as a transfer of its own whose parent is the one that put it there. An order that fails leaves the money
-- where it was, and another release may be proposed.
CREATE TABLE suspense_releases (
    id              uuid PRIMARY KEY,
    transfer_id     uuid NOT NULL,                       -- what put the money in suspense
    disposition     text COLLATE "C" NOT NULL CHECK (disposition IN ('credit', 'return', 'payout')),
    reason          text NOT NULL CHECK (reason <> ''),
    state           text COLLATE "C" NOT NULL DEFAULT 'proposed'
                    CHECK (state IN ('proposed', 'approved', 'rejected', 'failed')),
    proposed_by     operator_name NOT NULL,
    proposed_at     timestamptz NOT NULL,
    decided_by      operator_name,
    decided_at      timestamptz,
    beneficiary_id  uuid,                                -- of a payout
    CHECK ((disposition = 'payout') = (beneficiary_id IS NOT NULL)),
    CHECK (decided_by <> proposed_by),
    CHECK ((state = 'proposed') = (decided_by IS NULL) AND (decided_by IS NULL) = (decided_at IS NULL))
);
CREATE UNIQUE INDEX suspense_releases_once ON suspense_releases (transfer_id)
    WHERE state IN ('proposed', 'approved');

-- Operators end transfers that are `unknown`, and book reversals that the provider made without telling, when two
-- agree. Until then nothing moves, and evidence that comes first wins: what was proposed is looked at again when it is
-- approved, with the transfer locked.
CREATE TABLE transfer_proposals (
    id              uuid PRIMARY KEY,
    transfer_id     uuid NOT NULL,
    outcome         text COLLATE "C" NOT NULL CHECK (outcome IN ('completed', 'failed', 'reversed')),
    reason          text NOT NULL CHECK (reason <> ''),
    state           text COLLATE "C" NOT NULL DEFAULT 'open'
                    CHECK (state IN ('open', 'approved', 'withdrawn', 'expired', 'overtaken')),
    proposed_by     operator_name NOT NULL,
    proposed_at     timestamptz NOT NULL,
    expires_at      timestamptz NOT NULL CHECK (expires_at > proposed_at),
    decided_by      operator_name,
    decided_at      timestamptz,
    CHECK (state <> 'approved' OR decided_by IS NOT NULL AND decided_by <> proposed_by),
    CHECK ((state = 'open') = (decided_at IS NULL))
);
CREATE UNIQUE INDEX transfer_proposals_open ON transfer_proposals (transfer_id) WHERE state = 'open';
CREATE INDEX transfer_proposals_transfer ON transfer_proposals (transfer_id, id);

-- What the provider answered when it was asked about a transfer, in a word, for the operators who have to decide.
CREATE TABLE provider_answers (
    transfer_id     uuid NOT NULL,
    answer          text COLLATE "C" NOT NULL,
    times           integer NOT NULL DEFAULT 1,
    first_seen_at   timestamptz NOT NULL,
    last_seen_at    timestamptz NOT NULL,
    PRIMARY KEY (transfer_id, answer)
) WITH (fillfactor = 85);

-- A person reports a problem with a transfer and gets an answer within 72 hours: the law's time for giving back what
-- was taken without consent (Cybercrimes Act, s. 37(3)), promised here for every report.
--
-- A dispute moves no money: what follows from it is done as every money of operators is, by two people. The words of
-- both sides are sealed with the person's key.
CREATE TABLE disputes (
    id              uuid PRIMARY KEY,
    position        bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    transfer_id     uuid NOT NULL REFERENCES transfers (id),
    user_id         uuid NOT NULL,                       -- who reports it
    reason          text COLLATE "C" NOT NULL CHECK (reason IN ('unauthorised', 'not_received', 'wrong_amount',
                    'wrong_recipient', 'charged_twice', 'other')),
    description     text NOT NULL,                       -- sealed
    state           text COLLATE "C" NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'answered', 'closed')),
    opened_at       timestamptz NOT NULL,
    due_at          timestamptz NOT NULL,
    answer          text,                                -- the last one, sealed
    answered_at     timestamptz,
    outcome         text COLLATE "C" CHECK (outcome IN ('refunded', 'corrected', 'explained', 'declined')),
    closed_at       timestamptz,
    CHECK ((answer IS NULL) = (answered_at IS NULL) AND (state <> 'answered' OR answer IS NOT NULL)),
    CHECK ((state = 'closed') = (closed_at IS NOT NULL) AND (closed_at IS NULL) = (outcome IS NULL))
);
CREATE UNIQUE INDEX disputes_once ON disputes (transfer_id, user_id) WHERE state <> 'closed';
CREATE INDEX disputes_of_user ON disputes (user_id, transfer_id, position);
CREATE INDEX disputes_due ON disputes (due_at, position) WHERE state <> 'closed';

-- What stands out in payments, for people to look at. It is seen after the fact, among the newest transfers, so that no
-- payment waits for it; nothing is refused because of it, and whoever has looked clears it with a note.
CREATE TABLE risk_alerts (
    id              uuid PRIMARY KEY,
    user_id         uuid NOT NULL,
    kind            text COLLATE "C" NOT NULL
                    CHECK (kind IN ('many_recipients', 'many_senders', 'passes_on', 'many_drops')),
    counted         bigint,                              -- people or drops
    received        bigint,                              -- of who passes on
    sent            bigint,
    state           text COLLATE "C" NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'cleared')),
    first_seen      timestamptz NOT NULL,
    last_seen       timestamptz NOT NULL,
    cleared_by      operator_name,
    cleared_at      timestamptz,
    note            text,
    CHECK ((kind = 'passes_on') = (counted IS NULL)),
    CHECK ((kind = 'passes_on') = (received IS NOT NULL AND sent IS NOT NULL)),
    CHECK ((state = 'cleared') = (cleared_by IS NOT NULL AND cleared_at IS NOT NULL AND note IS NOT NULL))
);
CREATE UNIQUE INDEX risk_alerts_open ON risk_alerts (user_id, kind) WHERE state = 'open';
CREATE INDEX risk_alerts_cleared ON risk_alerts (user_id, kind, cleared_at) WHERE state = 'cleared';

-- How the banks are doing, seen by what becomes of transfers to them: a person who is about to send learns that a bank
-- is slow, and operators which one it is. Nothing is decided by it: an order to a slow bank is taken and waits.
CREATE TABLE bank_health (
    bank_code       text COLLATE "C" PRIMARY KEY,
    status          text COLLATE "C" NOT NULL CHECK (status IN ('normal', 'slow', 'down')),
    transfers       integer NOT NULL,                    -- of the last half hour that have ended or are late
    failed          integer NOT NULL,
    late            integer NOT NULL,
    median_seconds  integer,                             -- of those that arrived
    weighed_at      timestamptz NOT NULL
);

-- Reconciliation -----------------------------------------------------------------------------------------------------
-- What the provider's books say and ours do not.
--
-- A look at one of the provider's accounts compares its balance, transfers and payments with ours and leaves what
-- differs here. Things move while one looks, so a difference is a suspicion at first and a break once it is found again
-- a while later; it ends by itself when a look no longer finds it. No balance is changed because of one.

-- Whom a look was asked for, and when it was last done.
CREATE TABLE reconciled_accounts (
    account         text COLLATE "C" PRIMARY KEY,        -- the provider's account
    asked_at        timestamptz NOT NULL,
    looked_at       timestamptz,
    looks           bigint NOT NULL DEFAULT 0,
    listed          bigint,                              -- kobo that the provider listed at the last look
    matched         bigint,                              -- kobo of it that an entry of ours explains
    CHECK (matched BETWEEN 0 AND listed)
) WITH (fillfactor = 80);

CREATE TABLE reconciliation_breaks (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account         text COLLATE "C" NOT NULL,
    kind            text COLLATE "C" NOT NULL CHECK (kind IN
                    ('missing_with_us', 'missing_there', 'other_amount', 'other_state', 'balance')),
    key             text COLLATE "C" NOT NULL,           -- a reference, the provider's id, or 'balance'
    ours            text,
    theirs          text,
    happened_at     timestamptz NOT NULL,                -- when what differs happened: looks reach back so far
    first_seen      timestamptz NOT NULL,
    last_seen       timestamptz NOT NULL,
    opened_at       timestamptz,                         -- when it was found again; null: a suspicion
    resolved_at     timestamptz
);
CREATE UNIQUE INDEX reconciliation_breaks_current ON reconciliation_breaks (account, kind, key)
    WHERE resolved_at IS NULL;
CREATE INDEX reconciliation_breaks_resolved ON reconciliation_breaks (resolved_at) WHERE resolved_at IS NOT NULL;

-- What operators found out about a difference between the books: notes with author and time, appended only.
CREATE TABLE break_notes (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    break_id        bigint NOT NULL REFERENCES reconciliation_breaks (id),
    text            text NOT NULL CHECK (text <> ''),
    author          operator_name NOT NULL,
    written_at      timestamptz NOT NULL
);
CREATE INDEX break_notes_break ON break_notes (break_id, id);
CREATE TRIGGER break_notes_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON break_notes
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();

-- Bills --------------------------------------------------------------------------------------------------------------
-- What the provider takes for its service: a row of its books each, of a customer's account or of ours. It leaves an
-- account of ours here; what a payer paid for it is what fee_schedule said.

-- Which account of ours a kind of bill is booked to, by the day of the bill. A kind without a row is a cost, and shown.
CREATE TABLE bill_accounts (
    kind            text COLLATE "C" NOT NULL,           -- the provider's word
    valid_from      timestamptz NOT NULL,
    account         text COLLATE "C" NOT NULL CHECK (account IN ('fees', 'stamp_duty', 'provider_costs')),
    PRIMARY KEY (kind, valid_from)
);
INSERT INTO bill_accounts VALUES
    ('TRANSFER_FEE', '-infinity', 'fees'),
    ('STAMP_DUTY', '-infinity', 'stamp_duty'),
    ('PAYMENT_COLLECTION', '-infinity', 'provider_costs'),
    ('KYC_TIER_2', '-infinity', 'provider_costs'),
    ('KYC_TIER_3', '-infinity', 'provider_costs');

-- Append only.
CREATE TABLE provider_bills (
    provider_row_id text COLLATE "C" PRIMARY KEY,
    provider_account text COLLATE "C" NOT NULL,          -- that was debited
    kind            text COLLATE "C" NOT NULL,
    account         text COLLATE "C" NOT NULL,           -- as bill_accounts said when it was booked
    is_known        boolean NOT NULL,                    -- false: bill_accounts had no such kind
    amount          bigint NOT NULL CHECK (amount > 0),
    reference       text COLLATE "C",                    -- of the transfer that it is for
    transfer_id     uuid NOT NULL UNIQUE,                -- as it is booked
    billed_at       timestamptz NOT NULL,
    booked_at       timestamptz NOT NULL
);
CREATE INDEX provider_bills_account ON provider_bills (provider_account, billed_at);
CREATE INDEX provider_bills_unknown ON provider_bills (kind) WHERE NOT is_known;
CREATE TRIGGER provider_bills_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON provider_bills
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();

-- Up to which entry of provider_clearing bills were looked for.
CREATE TABLE bill_marks (
    clearing_id     bigint PRIMARY KEY,                  -- ledger account
    sequence        bigint NOT NULL
) WITH (fillfactor = 50);

-- Recovery -----------------------------------------------------------------------------------------------------------
-- After a restore the ledger has forgotten what happened since the backup, and the provider has not. A recovery is the
-- time in which this is made good. While one is open nothing that moves money is sent to the provider and no payment is
-- accepted: a balance that is too high, or a transfer that has left already, would cost money that nobody gets back.

CREATE TABLE recoveries (
    id              uuid PRIMARY KEY,
    restored_to     timestamptz NOT NULL,                -- what happened later is not in the ledger
    begun_at        timestamptz NOT NULL,
    begun_by        operator_name NOT NULL,
    reason          text NOT NULL CHECK (reason <> ''),
    planned_at      timestamptz,                         -- when accounts were last looked for
    ended_at        timestamptz,
    ended_by        operator_name,
    end_reason      text,
    CHECK ((ended_at IS NULL) = (ended_by IS NULL) AND (ended_at IS NULL) = (end_reason IS NULL))
);
CREATE UNIQUE INDEX recoveries_open ON recoveries ((ended_at IS NULL)) WHERE ended_at IS NULL;

-- The provider's accounts, each to be compared with the ledger. A difference that nobody can make good need not hold a
-- recovery open for ever: an operator who has looked at it accepts it.
CREATE TABLE recovery_accounts (
    recovery_id     uuid NOT NULL,
    account         text COLLATE "C" NOT NULL,
    looked_at       timestamptz,                         -- when the last look began
    differences     bigint,                              -- that it left; null: not looked at
    detail          text,                                -- the first of them
    accepted_at     timestamptz,
    accepted_by     operator_name,
    accept_reason   text,
    asked_from      uuid,                                -- older transfers, asked about by reference down to this one
    PRIMARY KEY (recovery_id, account),
    CONSTRAINT recovery_accounts_accepted CHECK ((accepted_at IS NULL) = (accepted_by IS NULL)
        AND (accepted_at IS NULL) = (accept_reason IS NULL) AND (accepted_at IS NULL OR coalesce(differences, 0) > 0))
) WITH (fillfactor = 80);

-- Transfers that were open at the moment of the backup: each may have been sent since.
CREATE TABLE recovery_doubts (
    recovery_id     uuid NOT NULL,
    transfer_id     uuid NOT NULL,
    absent_since    timestamptz,                         -- the provider has said since then that it has none
    cleared_at      timestamptz,
    finding         text COLLATE "C" CHECK (finding IN ('found', 'absent')),
    PRIMARY KEY (recovery_id, transfer_id),
    CHECK ((cleared_at IS NULL) = (finding IS NULL))
) WITH (fillfactor = 80);
CREATE INDEX recovery_doubts_open ON recovery_doubts (transfer_id) WHERE cleared_at IS NULL;

-- What the provider did and the ledger had forgotten. Append only.
CREATE TABLE forgotten_transfers (
    provider_id     text COLLATE "C" PRIMARY KEY,
    recovery_id     uuid NOT NULL,
    transfer_id     uuid NOT NULL UNIQUE,                -- as it is booked
    reference       text COLLATE "C" NOT NULL,
    source          text COLLATE "C" NOT NULL,           -- the provider's accounts
    destination     text COLLATE "C",
    counterparty    text COLLATE "C",                    -- when the money left for a bank
    amount          bigint NOT NULL CHECK (amount > 0),
    status          text COLLATE "C" NOT NULL CHECK (status IN ('completed', 'failed', 'reversed')),
    made_at         timestamptz NOT NULL,
    found_at        timestamptz NOT NULL
);
CREATE INDEX forgotten_transfers_source ON forgotten_transfers (source);
CREATE TRIGGER forgotten_transfers_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON forgotten_transfers
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();

-- Money from outside that came in before the recovery and that account has not told of.
CREATE TABLE recovery_payments (
    provider_payment_id text COLLATE "C" PRIMARY KEY,
    number          text COLLATE "C" NOT NULL,           -- the provider has two ids for it, which share this
    first_seen_at   timestamptz NOT NULL,
    held_at         timestamptz                          -- booked in suspense
);
CREATE INDEX recovery_payments_held ON recovery_payments (number) WHERE held_at IS NOT NULL;

-- Security -----------------------------------------------------------------------------------------------------------
-- Three roles: ${owner} migrates and owns, ${handler} answers requests, ${worker} handles events and jobs.
--
-- Neither login role can write a ledger table: money moves only inside the SECURITY DEFINER functions, which run as the
-- owner with a pinned search path. Row level security is on and forced everywhere a row belongs to a person; the
-- handler sees the rows of `transfa.user_id`, which a connection sets for one request, and without it sees nothing.

-- A wallet as a person sees it: what is theirs, what is on its way out, what they can spend.
CREATE VIEW wallets WITH (security_invoker = true) AS
    SELECT u.id AS user_id, b.posted, b.held, b.posted - b.held AS available, b.account_id, u.provider_account,
        b.debits_blocked, b.owed
    FROM users u JOIN balances b ON b.account_id = u.wallet_id;

-- Both roles read; the worker writes the read model and closes breaks; configuration belongs to the owner.
GRANT SELECT ON ledger_accounts, balances, transfers, transfer_steps, holds, entries, wallets, provider_sessions,
    users, beneficiaries, devices, source_heartbeats, tier_limits, user_limits, device_caps, beneficiary_caps,
    bank_minimums, fee_schedule, spending_counters, receiving_counters, money_drops, drop_slots, payment_requests,
    request_images, disputes, bank_health
    TO ${handler}, ${worker};
GRANT SELECT ON approval_nonces, refused_orders, inbound_payments, transfer_absences, breaks, blocks,
    subscription_charges, suspense_releases, transfer_proposals, provider_answers, risk_alerts, reconciled_accounts,
    reconciliation_breaks, break_notes, recoveries, recovery_accounts, forgotten_transfers, bill_accounts,
    provider_bills
    TO ${worker};

GRANT UPDATE (username, account_type, auth_sequence, status, sending_allowed, debits_blocked, credits_blocked,
    receive_preference, restriction_sequence, settings_sequence, tier_sequence, default_sequence, kyc_status, tier,
    kyc_sequence, provider_account, account_sequence, plan, active_until, subscription_sequence, request_policy)
    ON users TO ${worker};                               -- not the wallet
GRANT INSERT, UPDATE ON beneficiaries, blocks, user_limits, source_heartbeats, provider_answers TO ${worker};
GRANT INSERT, UPDATE (public_key, activated_at, revoked_at, auth_sequence) ON devices TO ${worker};
GRANT INSERT ON provider_sessions, break_notes TO ${worker};
GRANT DELETE ON request_images TO ${worker};
GRANT UPDATE (closed_at, closed_by, resolution) ON breaks TO ${worker};
GRANT UPDATE (state, answer, answered_at, outcome, closed_at) ON disputes TO ${worker};

-- Row level security. The owner's functions and the worker pass; the handler gets what belongs to its user, has made,
-- taken part in or was asked for. Public details of a drop or a request, for whoever has the link, are read as worker,
-- by id. Whose transfers are shown is asked once per statement: for each of the thousands of rows that a list with a
-- filter looks through, reading the setting and making an id of it took longer than reading the row.
DO $$
DECLARE
    t record;
BEGIN
    FOR t IN SELECT * FROM (VALUES
        ('users', 'id = current_user_id()'),
        ('beneficiaries', 'user_id = current_user_id()'),
        ('devices', 'user_id = current_user_id()'),
        ('user_limits', 'user_id = current_user_id()'),
        ('spending_counters', 'user_id = current_user_id()'),
        ('receiving_counters', 'user_id = current_user_id()'),
        ('approval_nonces', 'false'),
        ('refused_orders', 'false'),
        ('room_refusals', 'false'),
        ('inbound_payments', 'false'),
        ('ledger_accounts', 'owner_id = current_user_id() AND kind = ''wallet'''),
        ('balances', 'account_id = (SELECT u.wallet_id FROM users u WHERE u.id = current_user_id())'),
        ('entries', 'account_id = (SELECT u.wallet_id FROM users u WHERE u.id = current_user_id())'),
        ('holds', 'account_id = (SELECT u.wallet_id FROM users u WHERE u.id = current_user_id())'),
        ('transfers', 'sender_id = (SELECT current_user_id()) OR recipient_id = (SELECT current_user_id())'),
        ('transfer_steps', 'EXISTS (SELECT 1 FROM transfers x WHERE x.id = transfer_steps.transfer_id)'),
        ('provider_sessions', 'EXISTS (SELECT 1 FROM transfers t WHERE t.id = provider_sessions.transfer_id)'),
        ('money_drops', 'creator_id = current_user_id()'),
        ('drop_slots', 'claimant_id = current_user_id() OR EXISTS (SELECT 1 FROM money_drops d
            WHERE d.id = drop_slots.drop_id AND d.creator_id = current_user_id())'),
        ('drop_password_failures', 'false'),
        ('payment_requests', 'owner_id = current_user_id() OR payer_id = current_user_id()'),
        ('request_images', 'user_id = current_user_id()'),
        ('subscription_charges', 'false'),
        ('disputes', 'user_id = nullif(current_setting(''transfa.user_id'', true), '''')::uuid'),
        ('blocks', NULL),                                -- the handler has no right to these two
        ('risk_alerts', NULL)
    ) AS x(name, own)
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t.name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t.name);
        EXECUTE format('CREATE POLICY all_rows ON %I TO ${owner}, ${worker} USING (true) WITH CHECK (true)', t.name);
        IF t.own IS NOT NULL THEN
            EXECUTE format('CREATE POLICY own_rows ON %I FOR SELECT TO ${handler} USING (%s)', t.name, t.own);
        END IF;
    END LOOP;
END $$;
