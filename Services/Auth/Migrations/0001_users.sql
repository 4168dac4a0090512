-- Who signed up, and the keys of their personal data. Everything personal is sealed text ('s1.'); the key that opens it
-- is wrapped by a master key that the database never sees.

CREATE TABLE users (
    id                      uuid PRIMARY KEY,            -- UUIDv5 of the Clerk subject
    clerk_subject           text COLLATE "C" NOT NULL,
    username                text COLLATE "C" NOT NULL,
    account_type            text COLLATE "C" NOT NULL CHECK (account_type IN ('personal', 'merchant')),
    status                  text COLLATE "C" NOT NULL CHECK (status IN ('awaiting_details', 'onboarding_initiated')),
    kyc_details             text CHECK (kyc_details LIKE 's1.%'),
    kyb_details             text CHECK (kyb_details LIKE 's1.%'),
    contact_details         text CHECK (contact_details LIKE 's1.%'),
    erased_at               timestamptz,
    created_at              timestamptz NOT NULL,
    updated_at              timestamptz NOT NULL,

    verification_status     text COLLATE "C" NOT NULL DEFAULT 'pending',    -- notification
    notification_sequence   bigint NOT NULL DEFAULT 0,

    CONSTRAINT users_subject_unique UNIQUE (clerk_subject),
    CONSTRAINT users_username_unique UNIQUE (username),
    CONSTRAINT users_username_form CHECK (username ~ '^[a-z0-9]{3,20}$')
);

CREATE TABLE data_keys (
    user_id                 uuid PRIMARY KEY REFERENCES users (id),
    wrapped                 text CHECK (wrapped LIKE 'k1.%'),               -- null once destroyed
    master_key_id           text COLLATE "C" NOT NULL,
    created_at              timestamptz NOT NULL,
    destroyed_at            timestamptz,
    CHECK ((wrapped IS NULL) = (destroyed_at IS NOT NULL))
);

ALTER TABLE users ENABLE ROW LEVEL SECURITY;
ALTER TABLE users FORCE ROW LEVEL SECURITY;
CREATE POLICY own_user ON users TO ${handler}
    USING (id = nullif(current_setting('transfa.user_id', true), '')::uuid)
    WITH CHECK (id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_users ON users TO ${owner}, ${worker} USING (true) WITH CHECK (true);

ALTER TABLE data_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE data_keys FORCE ROW LEVEL SECURITY;
CREATE POLICY own_key ON data_keys TO ${handler}
    USING (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid)
    WITH CHECK (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_keys ON data_keys TO ${owner}, ${worker} USING (true) WITH CHECK (true);

GRANT SELECT, INSERT ON users, data_keys TO ${handler};
GRANT UPDATE (status, kyc_details, kyb_details, contact_details, updated_at) ON users TO ${handler};
GRANT SELECT, UPDATE ON users, data_keys TO ${worker};
