-- Bank accounts of users. Number and name are sealed; `number_index` finds a number without opening it.

CREATE TABLE beneficiaries (
    id                      uuid PRIMARY KEY,
    user_id                 uuid NOT NULL REFERENCES users (id),
    account_number          text NOT NULL CHECK (account_number LIKE 's1.%'),
    account_name            text CHECK (account_name LIKE 's1.%'),
    bank_code               text COLLATE "C" NOT NULL,
    bank_name               text,
    number_index            text COLLATE "C" NOT NULL,
    anchor_counterparty_id  text COLLATE "C",
    status                  text COLLATE "C" NOT NULL DEFAULT 'pending'
                            CHECK (status IN ('pending', 'verified', 'rejected')),
    reject_reason           text COLLATE "C",
    is_default              boolean NOT NULL DEFAULT false,
    created_at              timestamptz NOT NULL,
    deleted_at              timestamptz,
    CHECK (status <> 'verified' OR (anchor_counterparty_id IS NOT NULL AND account_name IS NOT NULL)),
    CHECK (NOT is_default OR (status = 'verified' AND deleted_at IS NULL))
);
CREATE INDEX beneficiaries_user ON beneficiaries (user_id, created_at);
CREATE UNIQUE INDEX beneficiaries_number ON beneficiaries (user_id, number_index)
    WHERE deleted_at IS NULL AND status <> 'rejected';
CREATE UNIQUE INDEX beneficiaries_default ON beneficiaries (user_id) WHERE is_default;

ALTER TABLE beneficiaries ENABLE ROW LEVEL SECURITY;
ALTER TABLE beneficiaries FORCE ROW LEVEL SECURITY;
CREATE POLICY own_beneficiaries ON beneficiaries TO ${handler}
    USING (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid)
    WITH CHECK (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_beneficiaries ON beneficiaries TO ${owner}, ${worker} USING (true) WITH CHECK (true);

GRANT SELECT, INSERT ON beneficiaries TO ${handler};
GRANT UPDATE (is_default, deleted_at) ON beneficiaries TO ${handler};
GRANT SELECT, UPDATE ON beneficiaries TO ${worker};
