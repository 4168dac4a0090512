-- Who has which plan, and how many free external transfers are used: the latter as `transaction`, which owns the count,
-- says it.

CREATE TABLE subscriptions (
    user_id         uuid PRIMARY KEY,
    plan            text COLLATE "C" NOT NULL DEFAULT 'free' CHECK (plan ~ '^[a-z0-9_]{1,32}$'),
    active_until    timestamptz,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    CHECK ((plan = 'free') = (active_until IS NULL))
);
CREATE INDEX subscriptions_active_until ON subscriptions (active_until) WHERE active_until IS NOT NULL;

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

GRANT SELECT ON subscriptions, usage TO ${handler};
GRANT SELECT, INSERT, UPDATE ON subscriptions, usage TO ${worker};
GRANT SELECT, INSERT ON adjustments TO ${worker};
