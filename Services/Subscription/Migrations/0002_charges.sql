-- Plans that are bought: periods, charges, and what an order to buy one needs.
--
-- A period lasts from one anniversary of `anchored_at` in Lagos to the next; `active_until` is what is paid. While it is
-- to be renewed the plan counts as active until `grace_until`, so that nothing is lost while the renewal is tried.
-- `transaction` takes the money: a charge is asked for by an event and decided by another. While one is open
-- (`pending_charge`) no other is asked for. The row of `subscriptions` is the mutex of everything here.

ALTER TABLE subscriptions
    ADD COLUMN grace_until      timestamptz,             -- null: it will not be renewed
    ADD COLUMN anchored_at      timestamptz,             -- null: given by an operator
    ADD COLUMN renews_as        text COLLATE "C",        -- the plan of the next period; null: none
    ADD COLUMN next_charge_at   timestamptz,
    ADD COLUMN pending_charge   text COLLATE "C",
    ADD CONSTRAINT subscriptions_free CHECK (plan <> 'free' OR (grace_until IS NULL AND next_charge_at IS NULL)),
    ADD CONSTRAINT subscriptions_one_charge CHECK (pending_charge IS NULL OR next_charge_at IS NULL);
CREATE INDEX subscriptions_due ON subscriptions (next_charge_at) WHERE next_charge_at IS NOT NULL;
DROP INDEX subscriptions_active_until;
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

DO $$
DECLARE
    t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['charges', 'devices', 'approval_nonces'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY own_rows ON %I TO ${handler}
            USING (user_id = nullif(current_setting(''transfa.user_id'', true), '''')::uuid)
            WITH CHECK (user_id = nullif(current_setting(''transfa.user_id'', true), '''')::uuid)', t);
        EXECUTE format('CREATE POLICY all_rows ON %I TO ${owner}, ${worker} USING (true) WITH CHECK (true)', t);
    END LOOP;
END $$;

-- A request may ask for a charge and say whether there will be another; what is paid only the worker writes.
GRANT UPDATE (renews_as, next_charge_at, pending_charge, grace_until, updated_at) ON subscriptions TO ${handler};
GRANT SELECT, INSERT, UPDATE ON charges TO ${handler}, ${worker};
GRANT SELECT ON devices TO ${handler};
GRANT SELECT, INSERT, UPDATE ON devices TO ${worker};
GRANT SELECT, INSERT ON approval_nonces TO ${handler};
GRANT SELECT, DELETE ON approval_nonces TO ${worker};
