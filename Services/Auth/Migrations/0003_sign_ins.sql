-- Who proves who somebody is: what the identity provider has verified of each sign-in, what tells a person who comes
-- back from all others, and who may not come back.
--
-- All of it is keyed hashes under BLIND_INDEX_KEY: addresses, numbers and names are found by them, not read from them.

-- Sign-ins ----------------------------------------------------------------------------------------------------------

-- A row per subject of Clerk of whom a token or a message told. Messages name all addresses and numbers that are
-- verified, tokens the first of each: of the two the newer counts, whatever the order in which they come. A subject
-- that was deleted stays as a tombstone: nothing that comes later makes a user of it.
CREATE TABLE sign_ins (
    subject                 text COLLATE "C" PRIMARY KEY,
    user_id                 uuid NOT NULL UNIQUE,                -- UUIDv5 of the subject
    told                    text[] NOT NULL DEFAULT '{}',        -- by the newest message
    told_at                 bigint NOT NULL DEFAULT 0,           -- milliseconds since 1970, by Clerk's clock
    claimed                 text[] NOT NULL DEFAULT '{}',        -- by tokens that are newer than it
    claimed_at              bigint NOT NULL DEFAULT 0,
    deleted_at              timestamptz
);

ALTER TABLE sign_ins ENABLE ROW LEVEL SECURITY;
ALTER TABLE sign_ins FORCE ROW LEVEL SECURITY;
CREATE POLICY own_sign_in ON sign_ins TO ${handler}
    USING (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid)
    WITH CHECK (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_sign_ins ON sign_ins TO ${owner}, ${worker} USING (true) WITH CHECK (true);

GRANT SELECT, INSERT ON sign_ins TO ${handler};
GRANT UPDATE (claimed, claimed_at) ON sign_ins TO ${handler};
GRANT SELECT, INSERT, UPDATE ON sign_ins TO ${worker};

-- People ------------------------------------------------------------------------------------------------------------

-- What a user has written at sign-up, beside the identity in `users`.
CREATE TABLE user_marks (
    user_id                 uuid PRIMARY KEY REFERENCES users (id),
    email                   text COLLATE "C",            -- of the address; null until it is given
    is_email_proven         boolean NOT NULL DEFAULT false,
    -- Of everything that identifies the person or the business: BVN, birthday and name together.
    person                  text COLLATE "C"
);
CREATE INDEX user_marks_person ON user_marks (person) WHERE person IS NOT NULL;

ALTER TABLE user_marks ENABLE ROW LEVEL SECURITY;
ALTER TABLE user_marks FORCE ROW LEVEL SECURITY;
CREATE POLICY own_marks ON user_marks TO ${handler}
    USING (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid)
    WITH CHECK (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_marks ON user_marks TO ${owner}, ${worker} USING (true) WITH CHECK (true);

GRANT SELECT, INSERT, UPDATE ON user_marks TO ${handler};
GRANT SELECT, UPDATE, DELETE ON user_marks TO ${worker};

-- Whose profile an operator has closed, or closed it while it was restricted, does not come back with the same BVN,
-- registration or verified address and number. No request sees a row: `is_barred` answers.
CREATE TABLE barred_marks (
    mark                    text COLLATE "C" NOT NULL,
    user_id                 uuid NOT NULL REFERENCES users (id),
    barred_at               timestamptz NOT NULL,
    PRIMARY KEY (mark, user_id)
);
CREATE INDEX barred_marks_user ON barred_marks (user_id);

ALTER TABLE barred_marks ENABLE ROW LEVEL SECURITY;
ALTER TABLE barred_marks FORCE ROW LEVEL SECURITY;
CREATE POLICY all_barred ON barred_marks TO ${owner}, ${worker} USING (true) WITH CHECK (true);

GRANT SELECT, INSERT, DELETE ON barred_marks TO ${worker};
