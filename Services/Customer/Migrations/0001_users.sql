-- What customer knows about people: details from auth (sealed, stored as they came), the verdict of the provider, and
-- what customer itself owns. Columns of an event's source are guarded by that source's sequence.

CREATE TABLE users (
    id                      uuid PRIMARY KEY,
    created_at              timestamptz NOT NULL,
    updated_at              timestamptz NOT NULL,

    username                text COLLATE "C",            -- auth
    account_type            text COLLATE "C",
    kyc_details             text CHECK (kyc_details LIKE 's1.%'),
    kyb_details             text CHECK (kyb_details LIKE 's1.%'),
    contact_details         text CHECK (contact_details LIKE 's1.%'),
    erased_at               timestamptz,
    auth_sequence           bigint NOT NULL DEFAULT 0,

    verification_status     text COLLATE "C" NOT NULL DEFAULT 'pending',    -- notification
    notification_sequence   bigint NOT NULL DEFAULT 0,

    anchor_customer_id      text COLLATE "C" UNIQUE,     -- ours
    allow_sending           boolean NOT NULL DEFAULT true,
    receiving_preference    text COLLATE "C" NOT NULL DEFAULT 'external'
                            CHECK (receiving_preference IN ('external', 'wallet')),
    restriction             text COLLATE "C" NOT NULL DEFAULT 'none'
                            CHECK (restriction IN ('none', 'post_no_debit', 'frozen', 'closed')),
    restriction_reason      text COLLATE "C"
);
CREATE INDEX users_username ON users (username);

ALTER TABLE users ENABLE ROW LEVEL SECURITY;
ALTER TABLE users FORCE ROW LEVEL SECURITY;
CREATE POLICY own_user ON users TO ${handler}
    USING (id = nullif(current_setting('transfa.user_id', true), '')::uuid)
    WITH CHECK (id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_users ON users TO ${owner}, ${worker} USING (true) WITH CHECK (true);

GRANT SELECT ON users TO ${handler};
GRANT UPDATE (allow_sending, receiving_preference, updated_at) ON users TO ${handler};
GRANT SELECT, INSERT, UPDATE ON users TO ${worker};
