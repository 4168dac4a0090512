-- What ends approvals before their time, known from auth: PINs that are no longer what they were, and sessions that are
-- over.

SET LOCAL lock_timeout = '3s';

-- Tokens that auth gave before this event hold no more.
CREATE TABLE approval_ends (
    user_id         uuid PRIMARY KEY,
    pin_sequence    bigint NOT NULL                      -- auth
);

-- For a day: the last token of a session lives a minute.
CREATE TABLE ended_sessions (
    user_id         uuid NOT NULL,
    session_id      text COLLATE "C" NOT NULL,
    ended_at        timestamptz NOT NULL,
    PRIMARY KEY (user_id, session_id)
);

ALTER TABLE approval_ends ENABLE ROW LEVEL SECURITY;
ALTER TABLE approval_ends FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON approval_ends TO ${handler}
    USING (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_rows ON approval_ends TO ${owner}, ${worker} USING (true) WITH CHECK (true);

ALTER TABLE ended_sessions ENABLE ROW LEVEL SECURITY;
ALTER TABLE ended_sessions FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON ended_sessions TO ${handler}
    USING (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_rows ON ended_sessions TO ${owner}, ${worker} USING (true) WITH CHECK (true);

GRANT SELECT ON approval_ends, ended_sessions TO ${handler};
GRANT SELECT, INSERT, UPDATE ON approval_ends TO ${worker};
GRANT SELECT, INSERT, DELETE ON ended_sessions TO ${worker};
