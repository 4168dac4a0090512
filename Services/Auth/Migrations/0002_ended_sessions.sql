-- Sessions that Clerk has ended: no approval is given in them, though their last token is still good for a moment.

SET LOCAL lock_timeout = '3s';

-- For a day: the last token of a session lives a minute.
CREATE TABLE ended_sessions (
    user_id         uuid NOT NULL,
    session_id      text COLLATE "C" NOT NULL,
    ended_at        timestamptz NOT NULL,
    PRIMARY KEY (user_id, session_id)
);

CREATE INDEX ended_sessions_age ON ended_sessions (ended_at);

ALTER TABLE ended_sessions ENABLE ROW LEVEL SECURITY;
ALTER TABLE ended_sessions FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON ended_sessions TO ${handler}
    USING (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_rows ON ended_sessions TO ${owner}, ${worker} USING (true) WITH CHECK (true);

GRANT SELECT ON ended_sessions TO ${handler};
GRANT SELECT, INSERT, DELETE ON ended_sessions TO ${worker};
