-- Whose phones may be told and whose streams go on: devices and ended sessions, known from auth.

SET LOCAL lock_timeout = '3s';

CREATE TABLE devices (
    id              uuid PRIMARY KEY,
    user_id         uuid NOT NULL,
    revoked_at      timestamptz                          -- removed, also when that was heard first
);

-- For a day: the last token of a session lives a minute.
CREATE TABLE ended_sessions (
    user_id         uuid NOT NULL,
    session_id      text COLLATE "C" NOT NULL,
    ended_at        timestamptz NOT NULL,
    PRIMARY KEY (user_id, session_id)
);

-- The session that a token came with; null: it came before sessions were noted.
ALTER TABLE push_tokens ADD COLUMN session_id text COLLATE "C";
ALTER TABLE users ADD COLUMN closed_at timestamptz;      -- customer: nothing is streamed any more

ALTER TABLE devices ENABLE ROW LEVEL SECURITY;
ALTER TABLE devices FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON devices TO ${handler}
    USING (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_rows ON devices TO ${owner}, ${worker} USING (true) WITH CHECK (true);

ALTER TABLE ended_sessions ENABLE ROW LEVEL SECURITY;
ALTER TABLE ended_sessions FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON ended_sessions TO ${handler}
    USING (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_rows ON ended_sessions TO ${owner}, ${worker} USING (true) WITH CHECK (true);

GRANT SELECT ON devices, ended_sessions, users TO ${handler};
GRANT SELECT, INSERT, UPDATE ON devices TO ${worker};
GRANT SELECT, INSERT, DELETE ON ended_sessions TO ${worker};
