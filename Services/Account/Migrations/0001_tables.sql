-- Deposit accounts of users at the provider, and the payments that arrived on them. Columns of an event's source are
-- guarded by that source's sequence. Number and name are sealed.

-- Accounts ----------------------------------------------------------------------------------------------------------

CREATE TABLE accounts (
    id                      uuid PRIMARY KEY,
    user_id                 uuid NOT NULL UNIQUE,
    created_at              timestamptz NOT NULL,
    updated_at              timestamptz NOT NULL,

    account_type            text COLLATE "C",            -- customer
    anchor_customer_id      text COLLATE "C",
    customer_sequence       bigint NOT NULL DEFAULT 0,

    verified_at             timestamptz,                 -- notification; for ever

    erased_at               timestamptz,                 -- auth; for ever

    anchor_account_id       text COLLATE "C" UNIQUE,     -- ours
    status                  text COLLATE "C" NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'open')),
    account_number          text CHECK (account_number LIKE 's1.%'),
    account_name            text CHECK (account_name LIKE 's1.%'),
    bank_name               text,
    opened_at               timestamptz,

    swept_at                timestamptz,                 -- when its payments were asked for last
    listed_at               timestamptz,                 -- when all of them were listed; null: only the newest were
    CHECK (status <> 'open' OR (anchor_account_id IS NOT NULL AND opened_at IS NOT NULL)),
    CHECK (status <> 'open' OR erased_at IS NOT NULL OR (account_number IS NOT NULL AND account_name IS NOT NULL))
);
-- Payments that no webhook told of are found by asking, account by account, the one not asked for longest first.
CREATE INDEX accounts_to_sweep ON accounts (coalesce(swept_at, opened_at)) WHERE status = 'open';

ALTER TABLE accounts ENABLE ROW LEVEL SECURITY;
ALTER TABLE accounts FORCE ROW LEVEL SECURITY;
CREATE POLICY own_account ON accounts TO ${handler}
    USING (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid)
    WITH CHECK (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_accounts ON accounts TO ${owner}, ${worker} USING (true) WITH CHECK (true);

GRANT SELECT ON accounts TO ${handler};
GRANT SELECT, INSERT, UPDATE ON accounts TO ${worker};

-- Payments ----------------------------------------------------------------------------------------------------------

-- A row is a credit: the primary key is why a payment is credited once, however often and by whatever message the
-- provider tells of it. Rows are never changed.
--
-- The provider shows the same money as an inbound transfer and as a payment, under two ids and one reference of its
-- own: the reference is why it is credited once.
CREATE TABLE inbound_payments (
    provider_payment_id     text COLLATE "C" PRIMARY KEY,
    payment_id              uuid NOT NULL UNIQUE,
    anchor_account_id       text COLLATE "C" NOT NULL REFERENCES accounts (anchor_account_id),
    user_id                 uuid NOT NULL,
    amount                  bigint NOT NULL CHECK (amount > 0),
    reference               text COLLATE "C",
    paid_at                 timestamptz NOT NULL,
    credited_at             timestamptz NOT NULL,
    provider_reference      text COLLATE "C"
);
CREATE INDEX inbound_payments_user ON inbound_payments (user_id, credited_at);
CREATE UNIQUE INDEX inbound_payments_reference ON inbound_payments (anchor_account_id, provider_reference)
    WHERE provider_reference IS NOT NULL;

ALTER TABLE inbound_payments ENABLE ROW LEVEL SECURITY;
ALTER TABLE inbound_payments FORCE ROW LEVEL SECURITY;
CREATE POLICY own_payments ON inbound_payments TO ${handler}
    USING (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid)
    WITH CHECK (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_payments ON inbound_payments TO ${owner}, ${worker} USING (true) WITH CHECK (true);

GRANT SELECT ON inbound_payments TO ${handler};
GRANT SELECT, INSERT ON inbound_payments TO ${worker};

-- Payments on accounts that belong to nobody we know, once they have waited long enough: transaction books them. One
-- row per money, whatever ids and messages the provider has for it.

CREATE TABLE unmatched_payments (
    provider_payment_id     text COLLATE "C" PRIMARY KEY,
    anchor_account_id       text COLLATE "C" NOT NULL,
    amount                  bigint NOT NULL CHECK (amount > 0),
    provider_reference      text COLLATE "C",
    paid_at                 timestamptz NOT NULL,
    told_at                 timestamptz NOT NULL
);
CREATE UNIQUE INDEX unmatched_payments_reference ON unmatched_payments (anchor_account_id, provider_reference)
    WHERE provider_reference IS NOT NULL;
GRANT SELECT, INSERT ON unmatched_payments TO ${worker};

-- Recovery ----------------------------------------------------------------------------------------------------------
-- After a restore the provider has accounts and payments that this database has forgotten. A recovery asks about every
-- account at once, back to the moment of the backup and not only for the newest payments, and lets no second account
-- be opened for a customer who has one.

CREATE TABLE recoveries (
    id              uuid PRIMARY KEY,
    restored_to     timestamptz NOT NULL,
    begun_at        timestamptz NOT NULL
);
GRANT SELECT ON recoveries TO ${worker};
