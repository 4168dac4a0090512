-- Whom people have blocked: to them the profile is not there, and transaction takes neither payments nor requests of theirs.

CREATE TABLE blocks (
    user_id         uuid NOT NULL REFERENCES users (id),     -- who has blocked
    blocked_id      uuid NOT NULL REFERENCES users (id),
    created_at      timestamptz NOT NULL,
    PRIMARY KEY (user_id, blocked_id),
    CHECK (user_id <> blocked_id)
);

ALTER TABLE blocks ENABLE ROW LEVEL SECURITY;
ALTER TABLE blocks FORCE ROW LEVEL SECURITY;
CREATE POLICY own_blocks ON blocks TO ${handler}
    USING (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid)
    WITH CHECK (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_blocks ON blocks TO ${owner}, ${worker} USING (true) WITH CHECK (true);

GRANT SELECT, INSERT, DELETE ON blocks TO ${handler};
GRANT SELECT ON blocks TO ${worker};
