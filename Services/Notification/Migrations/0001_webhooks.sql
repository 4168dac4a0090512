-- What the provider's webhooks said, and whom they were about. Only the worker role sees these tables: a webhook belongs
-- to no session.

-- The primary key is why an event of the provider counts once, however often it is delivered.
CREATE TABLE webhooks (
    event_id        text COLLATE "C" PRIMARY KEY,
    type            text COLLATE "C" NOT NULL,
    outcome         text COLLATE "C" NOT NULL CHECK (outcome IN ('published', 'waiting', 'ignored')),
    created_at      timestamptz,                         -- as the provider says
    received_at     timestamptz NOT NULL
);
CREATE INDEX webhooks_received ON webhooks (received_at);

CREATE TABLE customers (
    user_id             uuid PRIMARY KEY,
    anchor_customer_id  text COLLATE "C" NOT NULL UNIQUE,
    status              text COLLATE "C" NOT NULL DEFAULT 'pending',    -- the verdict that was published last
    created_at          timestamptz NOT NULL,
    verified_at         timestamptz
);

-- Verdicts about customers of whom `customer.created` has not told yet; published, in this order, when it does.
CREATE TABLE provider_evidence (
    position        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id        text COLLATE "C" NOT NULL UNIQUE REFERENCES webhooks (event_id),
    kind            text COLLATE "C" NOT NULL CHECK (kind = 'identification'),
    provider_id     text COLLATE "C" NOT NULL,
    verdict         text COLLATE "C" NOT NULL,
    received_at     timestamptz NOT NULL,
    published_at    timestamptz
);
CREATE INDEX provider_evidence_waiting ON provider_evidence (provider_id, position) WHERE published_at IS NULL;

ALTER TABLE customers ENABLE ROW LEVEL SECURITY;
ALTER TABLE customers FORCE ROW LEVEL SECURITY;
CREATE POLICY all_customers ON customers TO ${owner}, ${worker} USING (true) WITH CHECK (true);

GRANT SELECT, INSERT ON webhooks TO ${worker};
GRANT SELECT, INSERT, UPDATE ON customers, provider_evidence TO ${worker};
