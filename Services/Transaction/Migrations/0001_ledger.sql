-- The ledger: accounts, balances, entries, holds, transactions and their history.
--
-- Money is whole kobo. A transfer holds its money at acceptance and moves it at completion, so a refused or failed
-- payment leaves no entry behind. Every transaction's entries sum to zero; an account's entries are numbered 1..n and
-- carry the running balance. Only the functions of the later files write here; nobody updates or deletes an entry.
--
-- Locks are taken in ONE global order, each step sorted by its key, in a statement of its own:
--     transactions  ->  balances  ->  receiving_counters
-- A sender's balances row is the mutex of everything that sender owns (funds, spending, keys, nonces, devices' first
-- day). A recipient's receiving_counters row is the mutex of its free slots and of the ceiling of its wallet.

CREATE SEQUENCE ledger_account_ids START 1000;           -- below 1000: the system's own accounts, see system_account()

CREATE TABLE ledger_accounts (
    id              bigint PRIMARY KEY DEFAULT nextval('ledger_account_ids'),
    kind            text COLLATE "C" NOT NULL CHECK (kind IN ('wallet', 'drop_pool', 'provider_clearing', 'fees',
                    'stamp_duty', 'revenue', 'receivable', 'suspense')),
    owner_id        uuid,                                -- the user of a wallet, the drop of a pool
    created_at      timestamptz NOT NULL,
    CHECK ((owner_id IS NOT NULL) = (kind IN ('wallet', 'drop_pool')))
);
CREATE UNIQUE INDEX ledger_accounts_owner ON ledger_accounts (owner_id, kind) WHERE owner_id IS NOT NULL;

-- One row per account, updated in place. Nothing that changes is indexed and pages keep room, so updates stay cheap.
CREATE TABLE balances (
    account_id      bigint PRIMARY KEY,
    posted          bigint NOT NULL DEFAULT 0,
    held            bigint NOT NULL DEFAULT 0 CHECK (held >= 0),
    sequence        bigint NOT NULL DEFAULT 0,           -- number of the account's last entry
    checked         boolean NOT NULL DEFAULT true,       -- false: a system account, which may go below zero
    debits_blocked  boolean NOT NULL DEFAULT false,      -- set when a reversal found the money spent
    CHECK (NOT checked OR posted - held >= 0)
) WITH (fillfactor = 70);

CREATE TABLE transactions (
    id                  uuid PRIMARY KEY,                -- UUIDv7 from the caller: inserts at the right edge
    reference           text COLLATE "C" NOT NULL UNIQUE,    -- also the provider's reference and idempotency key
    type                text COLLATE "C" NOT NULL CHECK (type IN ('p2p', 'self_transfer', 'money_drop', 'drop_claim',
                        'drop_refund', 'subscription_charge', 'inbound')),
    state               text COLLATE "C" NOT NULL
                        CHECK (state IN ('accepted', 'submitted', 'unknown', 'completed', 'failed', 'reversed')),
    sequence            bigint NOT NULL,                 -- of the last event with this transaction as subject
    steps               smallint NOT NULL DEFAULT 1,     -- rows in transaction_events
    sender_id           uuid,
    recipient_id        uuid,
    recipient_username  text COLLATE "C",
    debit_account       bigint NOT NULL,
    credit_account      bigint NOT NULL,
    amount              bigint NOT NULL CHECK (amount > 0),
    fee                 bigint NOT NULL DEFAULT 0 CHECK (fee >= 0),
    duty                bigint NOT NULL DEFAULT 0 CHECK (duty >= 0),
    route               text COLLATE "C" NOT NULL CHECK (route IN ('external', 'internal')),
    route_reason        text COLLATE "C" NOT NULL,       -- see recipient_facts() and accept_payments()
    route_inputs        text NOT NULL DEFAULT '{}',      -- what the decision was made from, as JSON
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
    parent_id           uuid,                            -- the drop of a claim or refund
    correlation_id      uuid,
    traceparent         text,
    provider_id         text COLLATE "C",
    failure_reason      text,
    created_at          timestamptz NOT NULL,
    submitted_at        timestamptz,
    ended_at            timestamptz,
    CHECK ((idempotency_key IS NULL) = (request_key IS NULL) AND (api_route IS NULL) = (request_key IS NULL))
) WITH (fillfactor = 80);

CREATE INDEX transactions_sent ON transactions (sender_id, id DESC);
CREATE INDEX transactions_received ON transactions (recipient_id, id DESC);

-- A digest, and not an index over three columns: beside transactions_sent the planner would take either of the two, and
-- then read a sender's whole history to find one key.
CREATE FUNCTION request_key(sender uuid, api_route text, key text) RETURNS bytea LANGUAGE sql STABLE AS $$
    SELECT sha256(convert_to(sender || E'\n' || api_route || E'\n' || key, 'UTF8'))
$$;

-- What happened to a transaction, who caused it and on what evidence. Append only.
CREATE TABLE transaction_events (
    transaction_id  uuid NOT NULL,
    step            smallint NOT NULL,
    state           text COLLATE "C" NOT NULL,
    actor           text NOT NULL,
    cause           uuid,                                -- the event that led to it
    evidence        text,
    happened_at     timestamptz NOT NULL,
    PRIMARY KEY (transaction_id, step)
);

CREATE TABLE holds (
    transaction_id  uuid PRIMARY KEY,
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
                    ('amount', 'fee', 'duty', 'reversal', 'reversed_fee', 'reversed_duty', 'receivable')),
    transaction_id  uuid NOT NULL,
    posted_at       timestamptz NOT NULL,
    PRIMARY KEY (account_id, sequence)
);
CREATE INDEX entries_transaction ON entries (transaction_id);

-- An approval works once, also when it was refused.
CREATE TABLE approval_nonces (
    user_id         uuid NOT NULL,
    nonce           uuid NOT NULL,
    used_at         timestamptz NOT NULL,
    PRIMARY KEY (user_id, nonce)
);
CREATE INDEX approval_nonces_age ON approval_nonces USING brin (used_at);

-- Money that came in from outside: one row, and so one credit, per payment of the provider.
CREATE TABLE inbound_payments (
    provider_payment_id text COLLATE "C" PRIMARY KEY,
    provider_account    text COLLATE "C" NOT NULL,
    user_id             uuid NOT NULL,
    amount              bigint NOT NULL CHECK (amount > 0),
    reference           text COLLATE "C",
    disposition         text COLLATE "C" NOT NULL CHECK (disposition IN ('credited', 'suspense', 'matched')),
    transaction_id      uuid NOT NULL,
    received_at         timestamptz NOT NULL
);

-- A provider that says "not found" about a transfer of ours. See record_absence().
CREATE TABLE transfer_absences (
    transaction_id  uuid NOT NULL,
    attempt         integer NOT NULL,
    first_seen_at   timestamptz NOT NULL,
    last_seen_at    timestamptz NOT NULL,
    PRIMARY KEY (transaction_id, attempt)
);

-- Contradictions between the provider and us. People close them; no code flips a state because of one.
CREATE TABLE breaks (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    transaction_id  uuid,
    kind            text COLLATE "C" NOT NULL,
    detail          text NOT NULL,
    opened_at       timestamptz NOT NULL,
    closed_at       timestamptz,
    closed_by       text,
    resolution      text
);
CREATE UNIQUE INDEX breaks_open ON breaks (transaction_id, kind) WHERE closed_at IS NULL;

-- System accounts ----------------------------------------------------------------------------------------------------
-- Sixteen sub-accounts of each kind, chosen by the transaction's random last byte, so that none of them is a hot row.

CREATE FUNCTION system_account(kind text, transaction uuid) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT (CASE kind WHEN 'provider_clearing' THEN 16 WHEN 'fees' THEN 32 WHEN 'stamp_duty' THEN 48
        WHEN 'revenue' THEN 64 WHEN 'receivable' THEN 80 WHEN 'suspense' THEN 96 END
        + (get_byte(uuid_send(transaction), 15) & 15))::bigint
$$;

INSERT INTO ledger_accounts (id, kind, created_at)
SELECT k.base + sub, k.kind, transfa_now()
FROM (VALUES ('provider_clearing', 16), ('fees', 32), ('stamp_duty', 48), ('revenue', 64), ('receivable', 80),
             ('suspense', 96)) AS k(kind, base)
CROSS JOIN generate_series(0, 15) AS sub;

INSERT INTO balances (account_id, checked) SELECT id, false FROM ledger_accounts;

-- Nobody rewrites history, not even the owner ------------------------------------------------------------------------

CREATE FUNCTION refuse_rewriting() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append only', tg_table_name USING ERRCODE = 'insufficient_privilege';
END $$;

CREATE TRIGGER entries_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON entries
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();
CREATE TRIGGER transaction_events_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON transaction_events
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();
CREATE TRIGGER transactions_are_kept BEFORE DELETE OR TRUNCATE ON transactions
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();
