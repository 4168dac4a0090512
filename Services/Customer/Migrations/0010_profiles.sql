-- Public profiles, search, and what has passed between two people.

ALTER TABLE users ADD COLUMN who_may_request text COLLATE "C" NOT NULL DEFAULT 'everyone'
    CHECK (who_may_request IN ('everyone', 'contacts', 'nobody'));
GRANT UPDATE (who_may_request) ON users TO ${handler};

-- Whoever can be found: a name lookup and a search never meet closed or erased people, however many there are.
CREATE INDEX users_public ON users (username) WHERE username IS NOT NULL AND erased_at IS NULL AND restriction <> 'closed';

-- Payments between two people, learnt from events about the payment, whose sequence guards the row. Without what was
-- written to them: that stays sealed in transaction.
CREATE TABLE transfers (
    id                  uuid PRIMARY KEY,                -- UUIDv7: the order of ids is that of creation
    sender_id           uuid NOT NULL,
    recipient_id        uuid NOT NULL,
    low_id              uuid NOT NULL GENERATED ALWAYS AS (least(sender_id, recipient_id)) STORED,
    high_id             uuid NOT NULL GENERATED ALWAYS AS (greatest(sender_id, recipient_id)) STORED,
    -- The id once more: by the id itself the planner would read everybody's payments until a page is full.
    position            uuid NOT NULL GENERATED ALWAYS AS (id) STORED,
    type                text COLLATE "C" NOT NULL,
    state               text COLLATE "C" NOT NULL CHECK (state IN ('accepted', 'completed', 'failed', 'reversed')),
    route               text COLLATE "C" NOT NULL,
    amount              bigint NOT NULL CHECK (amount > 0),
    fee                 bigint NOT NULL,
    duty                bigint NOT NULL,
    failure_reason      text,
    created_at          timestamptz NOT NULL,
    ended_at            timestamptz,
    transaction_sequence bigint NOT NULL,
    CHECK (sender_id <> recipient_id)
) WITH (fillfactor = 80);
CREATE INDEX transfers_pair ON transfers (low_id, high_id, position DESC);

ALTER TABLE transfers ENABLE ROW LEVEL SECURITY;
ALTER TABLE transfers FORCE ROW LEVEL SECURITY;
CREATE POLICY own_transfers ON transfers FOR SELECT TO ${handler}
    USING (sender_id = nullif(current_setting('transfa.user_id', true), '')::uuid
        OR recipient_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_transfers ON transfers TO ${owner}, ${worker} USING (true) WITH CHECK (true);

GRANT SELECT ON transfers TO ${handler};
GRANT SELECT, INSERT, UPDATE ON transfers TO ${worker};
