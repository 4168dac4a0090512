-- What approves a payment: a PIN, and the keys of devices.

CREATE TABLE pins (
    user_id                 uuid PRIMARY KEY REFERENCES users (id),
    hash                    text NOT NULL CHECK (hash LIKE 'scrypt%'),
    failed_attempts         integer NOT NULL DEFAULT 0 CHECK (failed_attempts >= 0),
    lockouts                integer NOT NULL DEFAULT 0 CHECK (lockouts >= 0),
    locked_until            timestamptz,
    updated_at              timestamptz NOT NULL
) WITH (fillfactor = 70);

CREATE TABLE devices (
    id                      uuid PRIMARY KEY,
    user_id                 uuid NOT NULL REFERENCES users (id),
    name                    text NOT NULL CHECK (name LIKE 's1.%'),         -- sealed
    public_key              bytea NOT NULL CHECK (length(public_key) = 65), -- P-256, X9.63 uncompressed
    activated_at            timestamptz NOT NULL,
    revoked_at              timestamptz
);
CREATE INDEX devices_user ON devices (user_id, activated_at DESC);
CREATE UNIQUE INDEX devices_active_key ON devices (user_id, public_key) WHERE revoked_at IS NULL;

ALTER TABLE pins ENABLE ROW LEVEL SECURITY;
ALTER TABLE pins FORCE ROW LEVEL SECURITY;
CREATE POLICY own_pin ON pins TO ${handler}
    USING (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid)
    WITH CHECK (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_pins ON pins TO ${owner}, ${worker} USING (true) WITH CHECK (true);

ALTER TABLE devices ENABLE ROW LEVEL SECURITY;
ALTER TABLE devices FORCE ROW LEVEL SECURITY;
CREATE POLICY own_devices ON devices TO ${handler}
    USING (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid)
    WITH CHECK (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_devices ON devices TO ${owner}, ${worker} USING (true) WITH CHECK (true);

GRANT SELECT, INSERT, UPDATE ON pins TO ${handler};
GRANT SELECT, INSERT ON devices TO ${handler};
GRANT UPDATE (revoked_at) ON devices TO ${handler};
GRANT SELECT, DELETE ON pins TO ${worker};
GRANT SELECT ON devices TO ${worker};
GRANT UPDATE (revoked_at) ON devices TO ${worker};
