-- Who has signed in to the page. The browser keeps the secret, the row its hash: whoever reads the table can sign in as
-- nobody, and whoever knows the INTERNAL_TOKEN can make no session.

CREATE TABLE operator_sessions (
    id              uuid PRIMARY KEY,                    -- names it on the page
    secret_hash     text COLLATE "C" NOT NULL UNIQUE,    -- SHA-256 of what the cookie holds
    operator        text COLLATE "C" NOT NULL,
    way             text COLLATE "C" NOT NULL CHECK (way IN ('token', 'organization')),
    credential      text COLLATE "C" NOT NULL,           -- names the token or the role that it was opened with
    created_at      timestamptz NOT NULL,
    seen_at         timestamptz NOT NULL,                -- somebody was at the page; not older than a minute is precise
    expires_at      timestamptz NOT NULL,
    ended_at        timestamptz,
    end_reason      text COLLATE "C" CHECK (end_reason IN ('signed_out', 'ended', 'withdrawn', 'too_many')),
    CONSTRAINT operator_sessions_end CHECK ((ended_at IS NULL) = (end_reason IS NULL))
);
CREATE INDEX operator_sessions_open ON operator_sessions (operator, seen_at) WHERE ended_at IS NULL;
CREATE INDEX operator_sessions_expiry ON operator_sessions (expires_at);

-- Requests open and end sessions; nobody deletes one before its time.
GRANT SELECT, INSERT ON operator_sessions TO ${handler};
GRANT UPDATE (seen_at, ended_at, end_reason) ON operator_sessions TO ${handler};
GRANT SELECT, DELETE ON operator_sessions TO ${worker};
