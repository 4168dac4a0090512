-- Deposit accounts of users at the provider, and the payments that arrived on them. Columns of an event's source are
-- guarded by that source's sequence. Number and name are sealed.

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
    CHECK (status <> 'open' OR (anchor_account_id IS NOT NULL AND opened_at IS NOT NULL)),
    CHECK (status <> 'open' OR erased_at IS NOT NULL OR (account_number IS NOT NULL AND account_name IS NOT NULL))
);

ALTER TABLE accounts ENABLE ROW LEVEL SECURITY;
ALTER TABLE accounts FORCE ROW LEVEL SECURITY;
CREATE POLICY own_account ON accounts TO ${handler}
    USING (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid)
    WITH CHECK (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_accounts ON accounts TO ${owner}, ${worker} USING (true) WITH CHECK (true);

GRANT SELECT ON accounts TO ${handler};
GRANT SELECT, INSERT, UPDATE ON accounts TO ${worker};

-- A row is a credit: the primary key is why a payment is credited once, however often and by whatever message the
-- provider tells of it. Rows are never changed.

CREATE TABLE inbound_payments (
    provider_payment_id     text COLLATE "C" PRIMARY KEY,
    payment_id              uuid NOT NULL UNIQUE,
    anchor_account_id       text COLLATE "C" NOT NULL REFERENCES accounts (anchor_account_id),
    user_id                 uuid NOT NULL,
    amount                  bigint NOT NULL CHECK (amount > 0),
    reference               text COLLATE "C",
    paid_at                 timestamptz NOT NULL,
    credited_at             timestamptz NOT NULL
);
CREATE INDEX inbound_payments_user ON inbound_payments (user_id, credited_at);

ALTER TABLE inbound_payments ENABLE ROW LEVEL SECURITY;
ALTER TABLE inbound_payments FORCE ROW LEVEL SECURITY;
CREATE POLICY own_payments ON inbound_payments TO ${handler}
    USING (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid)
    WITH CHECK (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_payments ON inbound_payments TO ${owner}, ${worker} USING (true) WITH CHECK (true);

GRANT SELECT ON inbound_payments TO ${handler};
GRANT SELECT, INSERT ON inbound_payments TO ${worker};
