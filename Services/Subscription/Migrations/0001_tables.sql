-- Who has which plan, what was paid for it, and how many free external transfers are used.

-- Plans -------------------------------------------------------------------------------------------------------------
-- A period lasts from one anniversary of `anchored_at` in Lagos to the next; `active_until` is what is paid. While it
-- is to be renewed the plan counts as active until `grace_until`, so that nothing is lost while the renewal is tried.
-- `transaction` takes the money: a charge is asked for by an event and decided by another. While one is open
-- (`pending_charge`) no other is asked for. The row of `subscriptions` is the mutex of everything here.

CREATE TABLE subscriptions (
    user_id         uuid PRIMARY KEY,
    plan            text COLLATE "C" NOT NULL DEFAULT 'free' CHECK (plan ~ '^[a-z0-9_]{1,32}$'),
    active_until    timestamptz,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    grace_until     timestamptz,                         -- null: it will not be renewed
    anchored_at     timestamptz,                         -- null: given by an operator
    renews_as       text COLLATE "C",                    -- the plan of the next period; null: none
    next_charge_at  timestamptz,
    pending_charge  text COLLATE "C",
    CHECK ((plan = 'free') = (active_until IS NULL)),
    CONSTRAINT subscriptions_free CHECK (plan <> 'free' OR (grace_until IS NULL AND next_charge_at IS NULL)),
    CONSTRAINT subscriptions_one_charge CHECK (pending_charge IS NULL OR next_charge_at IS NULL)
);
CREATE INDEX subscriptions_due ON subscriptions (next_charge_at) WHERE next_charge_at IS NOT NULL;
CREATE INDEX subscriptions_ending ON subscriptions (coalesce(grace_until, active_until)) WHERE active_until IS NOT NULL;

-- One per person and first day of a period, however often it is tried.
CREATE TABLE charges (
    reference       text COLLATE "C" PRIMARY KEY,        -- sub-<user>-<yyyymmdd>
    user_id         uuid NOT NULL,
    plan            text COLLATE "C" NOT NULL,
    amount          bigint NOT NULL CHECK (amount > 0),
    attempt         integer NOT NULL CHECK (attempt > 0),
    starts_at       timestamptz,                         -- of the period; null: when it is paid
    state           text COLLATE "C" NOT NULL CHECK (state IN ('pending', 'paid', 'refused')),
    reason          text COLLATE "C",
    transaction_id  uuid,
    requested_at    timestamptz NOT NULL,
    decided_at      timestamptz,
    CHECK ((state = 'pending') = (decided_at IS NULL)),
    CHECK ((state = 'paid') = (transaction_id IS NOT NULL)),
    CHECK ((state = 'refused') = (reason IS NOT NULL))
);
CREATE UNIQUE INDEX charges_pending ON charges (user_id) WHERE state = 'pending';
CREATE INDEX charges_latest ON charges (user_id, requested_at DESC);

-- Usage -------------------------------------------------------------------------------------------------------------
-- As `transaction`, which owns the count, says it.

CREATE TABLE usage (
    user_id         uuid NOT NULL,
    month           text COLLATE "C" NOT NULL CHECK (month ~ '^\d{4}-\d{2}$'),
    used            integer NOT NULL,
    sequence        bigint NOT NULL,                    -- of the event of transaction that said so
    updated_at      timestamptz NOT NULL,
    PRIMARY KEY (user_id, month)
);

-- Corrections that were announced, each once.
CREATE TABLE adjustments (
    id              uuid PRIMARY KEY,
    user_id         uuid NOT NULL,
    month           text COLLATE "C" NOT NULL CHECK (month ~ '^\d{4}-\d{2}$'),
    delta           integer NOT NULL CHECK (delta <> 0),
    created_at      timestamptz NOT NULL
);

-- Orders ------------------------------------------------------------------------------------------------------------

-- What approves orders: keys of devices, known from auth, and nonces that were spent.
CREATE TABLE devices (
    id              uuid PRIMARY KEY,
    user_id         uuid NOT NULL,
    public_key      bytea,                               -- null: all that is known is that it was revoked
    revoked_at      timestamptz
);

CREATE TABLE approval_nonces (
    user_id         uuid NOT NULL,
    nonce           uuid NOT NULL,
    used_at         timestamptz NOT NULL,
    PRIMARY KEY (user_id, nonce)
);
CREATE INDEX approval_nonces_age ON approval_nonces (used_at);

-- Rights ------------------------------------------------------------------------------------------------------------

ALTER TABLE subscriptions ENABLE ROW LEVEL SECURITY;
ALTER TABLE subscriptions FORCE ROW LEVEL SECURITY;
CREATE POLICY own_subscription ON subscriptions TO ${handler}
    USING (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_subscriptions ON subscriptions TO ${owner}, ${worker} USING (true) WITH CHECK (true);

ALTER TABLE usage ENABLE ROW LEVEL SECURITY;
ALTER TABLE usage FORCE ROW LEVEL SECURITY;
CREATE POLICY own_usage ON usage TO ${handler}
    USING (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_usage ON usage TO ${owner}, ${worker} USING (true) WITH CHECK (true);

ALTER TABLE adjustments ENABLE ROW LEVEL SECURITY;
ALTER TABLE adjustments FORCE ROW LEVEL SECURITY;
CREATE POLICY all_adjustments ON adjustments TO ${owner}, ${worker} USING (true) WITH CHECK (true);

ALTER TABLE charges ENABLE ROW LEVEL SECURITY;
ALTER TABLE charges FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON charges TO ${handler}
    USING (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid)
    WITH CHECK (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_rows ON charges TO ${owner}, ${worker} USING (true) WITH CHECK (true);

ALTER TABLE devices ENABLE ROW LEVEL SECURITY;
ALTER TABLE devices FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON devices TO ${handler}
    USING (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid)
    WITH CHECK (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_rows ON devices TO ${owner}, ${worker} USING (true) WITH CHECK (true);

ALTER TABLE approval_nonces ENABLE ROW LEVEL SECURITY;
ALTER TABLE approval_nonces FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON approval_nonces TO ${handler}
    USING (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid)
    WITH CHECK (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_rows ON approval_nonces TO ${owner}, ${worker} USING (true) WITH CHECK (true);

GRANT SELECT ON subscriptions, usage TO ${handler};
GRANT SELECT, INSERT, UPDATE ON subscriptions, usage TO ${worker};
GRANT SELECT, INSERT ON adjustments TO ${worker};
-- A request may ask for a charge and say whether there will be another; what is paid only the worker writes.
GRANT UPDATE (renews_as, next_charge_at, pending_charge, grace_until, updated_at) ON subscriptions TO ${handler};
GRANT SELECT, INSERT, UPDATE ON charges TO ${handler}, ${worker};
GRANT SELECT ON devices TO ${handler};
GRANT SELECT, INSERT, UPDATE ON devices TO ${worker};
GRANT SELECT, INSERT ON approval_nonces TO ${handler};
GRANT SELECT, DELETE ON approval_nonces TO ${worker};
