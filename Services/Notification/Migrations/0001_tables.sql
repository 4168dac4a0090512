-- What the provider's webhooks said and whom they were about, and what people are told.

-- Webhooks ----------------------------------------------------------------------------------------------------------
-- Only the worker role sees these tables: a webhook belongs to no session.

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

-- People ------------------------------------------------------------------------------------------------------------

CREATE TABLE users (
    id              uuid PRIMARY KEY,
    username        text COLLATE "C",
    auth_sequence   bigint NOT NULL DEFAULT 0,
    erased_at       timestamptz
);

ALTER TABLE users ENABLE ROW LEVEL SECURITY;
ALTER TABLE users FORCE ROW LEVEL SECURITY;
CREATE POLICY own_user ON users TO ${handler}
    USING (id = nullif(current_setting('transfa.user_id', true), '')::uuid)
    WITH CHECK (id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_users ON users TO ${owner}, ${worker} USING (true) WITH CHECK (true);

GRANT SELECT, INSERT, UPDATE ON users TO ${worker};

-- Notifications -----------------------------------------------------------------------------------------------------
-- Texts hold amounts and no names, numbers or free text.

CREATE TABLE notifications (
    id              uuid PRIMARY KEY,                    -- UUIDv7: the order of the inbox
    user_id         uuid NOT NULL,
    kind            text COLLATE "C" NOT NULL,
    title           text NOT NULL,
    body            text NOT NULL,
    subject         text COLLATE "C",
    event_id        uuid NOT NULL,
    read_at         timestamptz,
    created_at      timestamptz NOT NULL,
    category        text COLLATE "C" NOT NULL DEFAULT 'account'
                    CHECK (category IN ('money', 'security', 'account', 'requests', 'drops', 'subscription')),
    position        bigint                               -- null: not in the inbox, for a push alone
);
CREATE UNIQUE INDEX notifications_inbox ON notifications (user_id, position) WHERE position IS NOT NULL;
CREATE INDEX notifications_unread ON notifications (user_id, position) WHERE read_at IS NULL AND position IS NOT NULL;
-- Whatever an event means, a person hears of it once.
CREATE UNIQUE INDEX notifications_event ON notifications (event_id, user_id);

ALTER TABLE notifications ENABLE ROW LEVEL SECURITY;
ALTER TABLE notifications FORCE ROW LEVEL SECURITY;
CREATE POLICY own_notifications ON notifications TO ${handler}
    USING (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid)
    WITH CHECK (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_notifications ON notifications TO ${owner}, ${worker} USING (true) WITH CHECK (true);

GRANT SELECT ON notifications TO ${handler};
GRANT UPDATE (read_at) ON notifications TO ${handler};
GRANT SELECT, INSERT, DELETE ON notifications TO ${worker};

-- Inboxes -----------------------------------------------------------------------------------------------------------
-- A row per person: how far the inbox has got, what is read, and what the person wants to hear.
--
-- Positions are counted under the row's lock, held to the commit: a person's messages appear in their order and
-- without gaps. Pages, the live stream and its resume read by position, and `revision` changes with whatever a client
-- may see.

CREATE TABLE inboxes (
    user_id         uuid PRIMARY KEY,
    last_position   bigint NOT NULL DEFAULT 0,
    read_up_to      bigint NOT NULL DEFAULT 0,
    unread          bigint NOT NULL DEFAULT 0 CHECK (unread >= 0),
    revision        bigint NOT NULL DEFAULT 0,
    shows_amounts   boolean NOT NULL DEFAULT false,      -- in pushes, which lie open on a locked phone
    -- What the person has turned off. Money and security are not among what may be.
    muted           text[] COLLATE "C" NOT NULL DEFAULT '{}' CHECK (muted <@ ARRAY[
                        'account.in_app', 'account.push', 'requests.in_app', 'requests.push', 'drops.in_app',
                        'drops.push', 'subscription.in_app', 'subscription.push']::text[]),
    CHECK (read_up_to BETWEEN 0 AND last_position)
) WITH (fillfactor = 70);

ALTER TABLE inboxes ENABLE ROW LEVEL SECURITY;
ALTER TABLE inboxes FORCE ROW LEVEL SECURITY;
CREATE POLICY own_inbox ON inboxes TO ${handler}
    USING (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid)
    WITH CHECK (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_inboxes ON inboxes TO ${owner}, ${worker} USING (true) WITH CHECK (true);

GRANT SELECT, INSERT ON inboxes TO ${handler};
GRANT UPDATE (read_up_to, unread, revision, muted, shows_amounts) ON inboxes TO ${handler};
GRANT SELECT, INSERT, UPDATE, DELETE ON inboxes TO ${worker};

-- Push --------------------------------------------------------------------------------------------------------------
-- Where pushes go. A token is sealed under its owner's key, and found again by its hash.

CREATE TABLE push_tokens (
    id              uuid PRIMARY KEY,
    user_id         uuid NOT NULL,
    token           text NOT NULL CHECK (token LIKE 's1.%'),
    token_hash      text COLLATE "C" NOT NULL UNIQUE CHECK (length(token_hash) = 64),
    device_id       uuid,                                -- the device that approves payments, if it is one
    registered_at   timestamptz NOT NULL
);
CREATE INDEX push_tokens_user ON push_tokens (user_id, registered_at);
CREATE UNIQUE INDEX push_tokens_device ON push_tokens (user_id, device_id) WHERE device_id IS NOT NULL;

ALTER TABLE push_tokens ENABLE ROW LEVEL SECURITY;
ALTER TABLE push_tokens FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tokens ON push_tokens TO ${handler}
    USING (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid)
    WITH CHECK (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_tokens ON push_tokens TO ${owner}, ${worker} USING (true) WITH CHECK (true);

GRANT SELECT, DELETE ON push_tokens TO ${handler}, ${worker};
