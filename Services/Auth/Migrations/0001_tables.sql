-- Who signed up, the keys of their personal data, and what approves their payments.
--
-- Everything personal is sealed text ('s1.'); the key that opens it is wrapped by a master key that the database never
-- sees.

-- Users -------------------------------------------------------------------------------------------------------------

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

    -- Why a verification failed, as a code, and which details the provider did not take.
    verification_reason     text COLLATE "C",            -- notification
    refusal                 text COLLATE "C",            -- customer
    customer_sequence       bigint NOT NULL DEFAULT 0,
    details_sequence        bigint NOT NULL DEFAULT 0,   -- ours: the event that told of the newest details

    -- Keyed hashes of what tells a person or a business from all others; none once an operator gave them back.
    identity_index          text COLLATE "C",            -- of the BVN
    registration_index      text COLLATE "C",            -- of the number in a register of businesses

    -- The restriction of which customer told last.
    restriction             text COLLATE "C" NOT NULL DEFAULT 'none',
    restriction_sequence    bigint NOT NULL DEFAULT 0,

    closed_at               timestamptz,                 -- the sign-in was deleted at Clerk
    erasure_asked_at        timestamptz,                 -- when transaction was last asked whether money is left
    erasure_cleared_at      timestamptz,                 -- when it last said that none is
    -- Who wants somebody erased of whom that is not known: another operator has to agree.
    erasure_proposed_by     text COLLATE "C" CHECK (erasure_proposed_by ~ '^[a-z0-9._@-]{1,64}$'),
    erasure_proposed_at     timestamptz,

    CHECK ((erasure_proposed_by IS NULL) = (erasure_proposed_at IS NULL)),
    CONSTRAINT users_subject_unique UNIQUE (clerk_subject),
    CONSTRAINT users_username_unique UNIQUE (username),
    CONSTRAINT users_username_form CHECK (username ~ '^[a-z0-9]{3,20}$')
);
-- Names that a person can take for one another are one name.
CREATE UNIQUE INDEX users_username_skeleton ON users (username_skeleton(username) COLLATE "C");
-- Limits belong to a person: of the accounts with one identity one goes on, also of several that sign up at once. Who
-- has not given everything, whose details the provider did not take, or who has closed holds nobody up. Who was
-- rejected does, until an operator has looked: the provider may still approve. Nothing that an event says may bring a
-- row back into these indexes: the event would be refused for ever.
CREATE UNIQUE INDEX users_identity ON users (identity_index)
    WHERE status = 'onboarding_initiated' AND refusal IS NULL AND closed_at IS NULL AND erased_at IS NULL;
CREATE UNIQUE INDEX users_registration ON users (registration_index)
    WHERE status = 'onboarding_initiated' AND refusal IS NULL AND closed_at IS NULL AND erased_at IS NULL;
CREATE INDEX users_to_erase ON users (closed_at) WHERE closed_at IS NOT NULL AND erased_at IS NULL;

ALTER TABLE users ENABLE ROW LEVEL SECURITY;
ALTER TABLE users FORCE ROW LEVEL SECURITY;
CREATE POLICY own_user ON users TO ${handler}
    USING (id = nullif(current_setting('transfa.user_id', true), '')::uuid)
    WITH CHECK (id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_users ON users TO ${owner}, ${worker} USING (true) WITH CHECK (true);

GRANT SELECT, INSERT ON users TO ${handler};
GRANT UPDATE (status, kyc_details, kyb_details, contact_details, verification_status, verification_reason, refusal,
    identity_index, registration_index, details_sequence, updated_at) ON users TO ${handler};
GRANT SELECT, UPDATE ON users TO ${worker};

-- Messages of Clerk -------------------------------------------------------------------------------------------------

-- The primary key is why a message counts once: Svix sends it again under the same id.
CREATE TABLE clerk_webhooks (
    message_id              text COLLATE "C" PRIMARY KEY,
    received_at             timestamptz NOT NULL
);
CREATE INDEX clerk_webhooks_received ON clerk_webhooks (received_at);

GRANT SELECT, INSERT, DELETE ON clerk_webhooks TO ${worker};

-- Keys --------------------------------------------------------------------------------------------------------------

CREATE TABLE data_keys (
    user_id                 uuid PRIMARY KEY REFERENCES users (id),
    wrapped                 text CHECK (wrapped LIKE 'k1.%'),               -- null once destroyed
    master_key_id           text COLLATE "C" NOT NULL,
    created_at              timestamptz NOT NULL,
    destroyed_at            timestamptz,
    CHECK ((wrapped IS NULL) = (destroyed_at IS NOT NULL))
);
-- What a master key has wrapped is found without reading everybody's, so that it can be wrapped anew when the master
-- key is replaced.
CREATE INDEX data_keys_master_key ON data_keys (master_key_id, user_id) WHERE wrapped IS NOT NULL;

ALTER TABLE data_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE data_keys FORCE ROW LEVEL SECURITY;
CREATE POLICY own_key ON data_keys TO ${handler}
    USING (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid)
    WITH CHECK (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_keys ON data_keys TO ${owner}, ${worker} USING (true) WITH CHECK (true);

GRANT SELECT, INSERT ON data_keys TO ${handler};
GRANT SELECT, UPDATE ON data_keys TO ${worker};

-- What approves a payment: a PIN, and the keys of devices -----------------------------------------------------------

CREATE TABLE pins (
    user_id                 uuid PRIMARY KEY REFERENCES users (id),
    hash                    text NOT NULL CHECK (hash LIKE 'scrypt%'),
    failed_attempts         integer NOT NULL DEFAULT 0 CHECK (failed_attempts >= 0),
    lockouts                integer NOT NULL DEFAULT 0 CHECK (lockouts >= 0),
    locked_until            timestamptz,
    updated_at              timestamptz NOT NULL
) WITH (fillfactor = 70);

-- Tries of a PIN under an idempotency key, for a day: the same try again is not counted again, and another PIN is
-- another request. The hash is keyed, so it cannot be searched for the PIN. They go with the PIN.
CREATE TABLE pin_tries (
    user_id                 uuid NOT NULL REFERENCES pins (user_id) ON DELETE CASCADE,
    route                   text COLLATE "C" NOT NULL,
    key                     text COLLATE "C" NOT NULL,
    request_hash            bytea NOT NULL,
    tried_at                timestamptz NOT NULL,
    outcome                 text COLLATE "C" CHECK (outcome IN ('right', 'wrong')),     -- null until it was compared
    attempts_left           integer NOT NULL CHECK (attempts_left >= 0),                -- if it was wrong
    PRIMARY KEY (user_id, route, key)
);
CREATE INDEX pin_tries_age ON pin_tries (tried_at);

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

ALTER TABLE pin_tries ENABLE ROW LEVEL SECURITY;
ALTER TABLE pin_tries FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tries ON pin_tries TO ${handler}
    USING (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid)
    WITH CHECK (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_tries ON pin_tries TO ${owner}, ${worker} USING (true) WITH CHECK (true);

ALTER TABLE devices ENABLE ROW LEVEL SECURITY;
ALTER TABLE devices FORCE ROW LEVEL SECURITY;
CREATE POLICY own_devices ON devices TO ${handler}
    USING (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid)
    WITH CHECK (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_devices ON devices TO ${owner}, ${worker} USING (true) WITH CHECK (true);

GRANT SELECT, INSERT, UPDATE ON pins TO ${handler};
GRANT SELECT, INSERT, DELETE ON pin_tries TO ${handler};
GRANT UPDATE (outcome) ON pin_tries TO ${handler};
GRANT SELECT, INSERT ON devices TO ${handler};
GRANT UPDATE (revoked_at) ON devices TO ${handler};
GRANT SELECT, DELETE ON pins TO ${worker};
GRANT SELECT, DELETE ON pin_tries TO ${worker};
GRANT SELECT ON devices TO ${worker};
GRANT UPDATE (revoked_at) ON devices TO ${worker};
