-- The inbox. Texts hold amounts and no names, numbers or free text.

CREATE TABLE users (
    id              uuid PRIMARY KEY,
    username        text COLLATE "C",
    auth_sequence   bigint NOT NULL DEFAULT 0,
    erased_at       timestamptz
);

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
    UNIQUE (event_id, user_id, kind)
);
CREATE INDEX notifications_inbox ON notifications (user_id, id DESC);
CREATE INDEX notifications_unread ON notifications (user_id) WHERE read_at IS NULL;

ALTER TABLE users ENABLE ROW LEVEL SECURITY;
ALTER TABLE users FORCE ROW LEVEL SECURITY;
CREATE POLICY own_user ON users TO ${handler}
    USING (id = nullif(current_setting('transfa.user_id', true), '')::uuid)
    WITH CHECK (id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_users ON users TO ${owner}, ${worker} USING (true) WITH CHECK (true);

ALTER TABLE notifications ENABLE ROW LEVEL SECURITY;
ALTER TABLE notifications FORCE ROW LEVEL SECURITY;
CREATE POLICY own_notifications ON notifications TO ${handler}
    USING (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid)
    WITH CHECK (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_notifications ON notifications TO ${owner}, ${worker} USING (true) WITH CHECK (true);

GRANT SELECT ON notifications TO ${handler};
GRANT UPDATE (read_at) ON notifications TO ${handler};
GRANT SELECT, INSERT, UPDATE ON users TO ${worker};
GRANT SELECT, INSERT, DELETE ON notifications TO ${worker};
