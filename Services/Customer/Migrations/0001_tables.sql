-- What customer knows about people, their banks, and what has passed between them.

-- Users -------------------------------------------------------------------------------------------------------------
-- Details from auth (sealed, stored as they came), the verdict of the provider, and what customer itself owns. Columns
-- of an event's source are guarded by that source's sequence.

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
    restriction_reason      text COLLATE "C",

    -- How long the user counts as having a paid plan: it allows more than one bank account.
    plan_until              timestamptz,                 -- subscription
    subscription_sequence   bigint NOT NULL DEFAULT 0,

    who_may_request         text COLLATE "C" NOT NULL DEFAULT 'everyone'    -- ours
                            CHECK (who_may_request IN ('everyone', 'contacts', 'nobody')),
    image_key               text COLLATE "C" UNIQUE,     -- the image that is shown
    -- How far the user was identified, as limits ask: 1 by the BVN, 2 by documents, 3 by everything a bank asks for.
    tier                    smallint NOT NULL DEFAULT 1 CHECK (tier BETWEEN 1 AND 3)
);
CREATE INDEX users_username ON users (username);
-- Whoever can be found: a name lookup and a search never meet closed or erased people, however many there are.
CREATE INDEX users_public ON users (username)
    WHERE username IS NOT NULL AND erased_at IS NULL AND restriction <> 'closed';

-- Closed is the last word: nothing opens a profile again, whatever asks for it.
CREATE TRIGGER closed_for_good BEFORE UPDATE OF restriction ON users FOR EACH ROW
    WHEN (OLD.restriction = 'closed' AND NEW.restriction <> 'closed') EXECUTE FUNCTION refuse_reopening();

ALTER TABLE users ENABLE ROW LEVEL SECURITY;
ALTER TABLE users FORCE ROW LEVEL SECURITY;
CREATE POLICY own_user ON users TO ${handler}
    USING (id = nullif(current_setting('transfa.user_id', true), '')::uuid)
    WITH CHECK (id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_users ON users TO ${owner}, ${worker} USING (true) WITH CHECK (true);

GRANT SELECT ON users TO ${handler};
GRANT UPDATE (allow_sending, receiving_preference, who_may_request, image_key, updated_at) ON users TO ${handler};
GRANT SELECT, INSERT, UPDATE ON users TO ${worker};

-- Who changed a tier, when and why stays.
CREATE TABLE tier_changes (
    user_id         uuid NOT NULL REFERENCES users (id),
    number          integer NOT NULL CHECK (number > 0),     -- 1..n for each user
    changed_at      timestamptz NOT NULL,
    before          smallint NOT NULL,
    after           smallint NOT NULL,
    reason          text COLLATE "C" NOT NULL CHECK (reason <> ''),
    operator        text NOT NULL CHECK (operator <> ''),
    request_id      uuid,
    PRIMARY KEY (user_id, number),
    CHECK (before <> after)
);
CREATE TRIGGER tier_changes_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON tier_changes
    FOR EACH STATEMENT EXECUTE FUNCTION keep_tier_changes();

ALTER TABLE tier_changes ENABLE ROW LEVEL SECURITY;
ALTER TABLE tier_changes FORCE ROW LEVEL SECURITY;
CREATE POLICY all_changes ON tier_changes TO ${owner}, ${worker} USING (true) WITH CHECK (true);
GRANT SELECT, INSERT ON tier_changes TO ${worker};

-- Images ------------------------------------------------------------------------------------------------------------
-- Profile images. A row is written before the object is put into the store, and deleted after the object is: whatever
-- crashes, the job discard_image finds every object that nobody shows.

CREATE TABLE images (
    key             text COLLATE "C" PRIMARY KEY,        -- random; who knows it may see the image
    user_id         uuid NOT NULL REFERENCES users (id),
    content_type    text COLLATE "C" NOT NULL,
    is_uploaded     boolean NOT NULL DEFAULT false,      -- its bytes are kept, and it was shown
    created_at      timestamptz NOT NULL
);
CREATE INDEX images_user ON images (user_id);

ALTER TABLE users ADD FOREIGN KEY (image_key) REFERENCES images (key);

ALTER TABLE images ENABLE ROW LEVEL SECURITY;
ALTER TABLE images FORCE ROW LEVEL SECURITY;
CREATE POLICY own_images ON images TO ${handler}
    USING (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid)
    WITH CHECK (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_images ON images TO ${owner}, ${worker} USING (true) WITH CHECK (true);

GRANT SELECT, INSERT, UPDATE (is_uploaded) ON images TO ${handler};
GRANT SELECT, DELETE ON images TO ${worker};

-- Documents ---------------------------------------------------------------------------------------------------------
-- Documents that the provider wants to see of a person or a business, and how far each is. The content is here,
-- sealed, from when it was handed in until the provider has it, and never longer than a day.

CREATE TABLE documents (
    id                  uuid PRIMARY KEY,
    user_id             uuid NOT NULL REFERENCES users (id),
    anchor_document_id  text COLLATE "C" NOT NULL,
    type                text COLLATE "C" NOT NULL,       -- the provider's word
    format              text COLLATE "C" NOT NULL CHECK (format IN ('file', 'text')),
    state               text COLLATE "C" NOT NULL DEFAULT 'wanted'
                        CHECK (state IN ('wanted', 'sending', 'sent', 'approved', 'refused')),
    reason              text COLLATE "C",
    content_type        text COLLATE "C",
    content             text CHECK (content LIKE 's1.%'),
    handed_at           timestamptz,
    updated_at          timestamptz NOT NULL,
    UNIQUE (user_id, anchor_document_id),
    CHECK ((content IS NOT NULL) = (state = 'sending') AND (content_type IS NOT NULL) = (state = 'sending')),
    CHECK ((reason IS NOT NULL) = (state = 'refused'))
);

ALTER TABLE documents ENABLE ROW LEVEL SECURITY;
ALTER TABLE documents FORCE ROW LEVEL SECURITY;
CREATE POLICY own_documents ON documents TO ${handler}
    USING (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid)
    WITH CHECK (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_documents ON documents TO ${owner}, ${worker} USING (true) WITH CHECK (true);
GRANT SELECT, UPDATE (state, reason, content_type, content, handed_at, updated_at) ON documents TO ${handler};
GRANT SELECT, INSERT, UPDATE, DELETE ON documents TO ${worker};

-- Blocks ------------------------------------------------------------------------------------------------------------
-- Whom people have blocked: to them the profile is not there, and transaction takes neither payments nor requests of
-- theirs.

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

-- Bank accounts -----------------------------------------------------------------------------------------------------
-- Bank accounts of users. Number and name are sealed; `number_index` finds a number without opening it.

CREATE TABLE beneficiaries (
    id                      uuid PRIMARY KEY,
    user_id                 uuid NOT NULL REFERENCES users (id),
    account_number          text NOT NULL CHECK (account_number LIKE 's1.%'),
    account_name            text CHECK (account_name LIKE 's1.%'),
    bank_code               text COLLATE "C" NOT NULL,
    bank_name               text,
    number_index            text COLLATE "C" NOT NULL,
    anchor_counterparty_id  text COLLATE "C",
    status                  text COLLATE "C" NOT NULL DEFAULT 'pending'
                            CHECK (status IN ('pending', 'review', 'verified', 'rejected')),
    reject_reason           text COLLATE "C",
    -- People have looked at the name that is stored: with this holder the account is the user's.
    name_accepted           boolean NOT NULL DEFAULT false,
    is_default              boolean NOT NULL DEFAULT false,
    created_at              timestamptz NOT NULL,
    deleted_at              timestamptz,
    CHECK (status <> 'verified' OR (anchor_counterparty_id IS NOT NULL AND account_name IS NOT NULL)),
    CHECK (account_name IS NOT NULL OR (status <> 'review' AND NOT name_accepted)),
    CHECK (NOT is_default OR (status = 'verified' AND deleted_at IS NULL))
);
CREATE INDEX beneficiaries_user ON beneficiaries (user_id, created_at);
CREATE UNIQUE INDEX beneficiaries_number ON beneficiaries (user_id, number_index)
    WHERE deleted_at IS NULL AND status <> 'rejected';
CREATE INDEX beneficiaries_review ON beneficiaries (id) WHERE status = 'review' AND deleted_at IS NULL;
CREATE UNIQUE INDEX beneficiaries_default ON beneficiaries (user_id) WHERE is_default;

ALTER TABLE beneficiaries ENABLE ROW LEVEL SECURITY;
ALTER TABLE beneficiaries FORCE ROW LEVEL SECURITY;
CREATE POLICY own_beneficiaries ON beneficiaries TO ${handler}
    USING (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid)
    WITH CHECK (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_beneficiaries ON beneficiaries TO ${owner}, ${worker} USING (true) WITH CHECK (true);

GRANT SELECT, INSERT ON beneficiaries TO ${handler};
GRANT UPDATE (is_default, deleted_at) ON beneficiaries TO ${handler};
GRANT SELECT, UPDATE ON beneficiaries TO ${worker};

-- Banks and enquiries -----------------------------------------------------------------------------------------------
-- The list of banks as it is answered, and questions whose account a number is.

CREATE TABLE bank_list (
    single          boolean PRIMARY KEY DEFAULT true CHECK (single),
    body            text NOT NULL,                       -- the whole answer
    etag            text COLLATE "C" NOT NULL,
    refreshed_at    timestamptz NOT NULL
);
GRANT SELECT ON bank_list TO ${handler};
GRANT SELECT, INSERT, UPDATE ON bank_list TO ${worker};

-- Number and name are sealed. Forgotten after a day.
CREATE TABLE name_enquiries (
    id              uuid PRIMARY KEY,
    user_id         uuid NOT NULL,
    account_number  text NOT NULL CHECK (account_number LIKE 's1.%'),
    bank_code       text COLLATE "C" NOT NULL,
    bank_name       text,
    account_name    text CHECK (account_name LIKE 's1.%'),
    status          text COLLATE "C" NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'found', 'rejected')),
    reject_reason   text COLLATE "C",
    created_at      timestamptz NOT NULL,
    CHECK ((status = 'found') = (account_name IS NOT NULL)),
    CHECK ((status = 'rejected') = (reject_reason IS NOT NULL))
);
CREATE INDEX name_enquiries_user ON name_enquiries (user_id, created_at);
CREATE INDEX name_enquiries_age ON name_enquiries (created_at);

ALTER TABLE name_enquiries ENABLE ROW LEVEL SECURITY;
ALTER TABLE name_enquiries FORCE ROW LEVEL SECURITY;
CREATE POLICY own_enquiries ON name_enquiries TO ${handler}
    USING (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid)
    WITH CHECK (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_enquiries ON name_enquiries TO ${owner}, ${worker} USING (true) WITH CHECK (true);
GRANT SELECT, INSERT ON name_enquiries TO ${handler};
GRANT SELECT, UPDATE, DELETE ON name_enquiries TO ${worker};

-- What has passed between two people --------------------------------------------------------------------------------
-- Payments that came to an end or wait in suspense, learnt from events about the payment, whose sequence guards the
-- row. Without what was written to them: that stays sealed in transaction. What is on its way, or failed, is in
-- transaction's history: hearing of every payment when it was accepted cost more than all else that customer does.

-- The columns that the index of pairs needs are given by the one statement that inserts. As generated columns they
-- cost more than the row: Postgres reads their expressions from the catalogue again for every statement.
CREATE TABLE transfers (
    id                  uuid PRIMARY KEY,                -- UUIDv7: the order of ids is that of creation
    sender_id           uuid NOT NULL,
    recipient_id        uuid NOT NULL,
    low_id              uuid NOT NULL,                   -- the lesser of the two
    high_id             uuid NOT NULL,                   -- the greater
    -- The id once more: by the id itself the planner would read everybody's payments until a page is full.
    position            uuid NOT NULL,
    type                text COLLATE "C" NOT NULL,
    state               text COLLATE "C" NOT NULL CHECK (state IN ('completed', 'waiting', 'reversed')),
    route               text COLLATE "C" NOT NULL,
    amount              bigint NOT NULL CHECK (amount > 0),
    fee                 bigint NOT NULL,
    duty                bigint NOT NULL,
    created_at          timestamptz NOT NULL,
    ended_at            timestamptz NOT NULL,
    transaction_sequence bigint NOT NULL,
    CHECK (sender_id <> recipient_id)
) WITH (fillfactor = 80);
CREATE INDEX transfers_pair ON transfers (low_id, high_id, position DESC);

ALTER TABLE transfers ENABLE ROW LEVEL SECURITY;
ALTER TABLE transfers FORCE ROW LEVEL SECURITY;
CREATE POLICY own_transfers ON transfers FOR SELECT TO ${handler}
    USING (sender_id = nullif(current_setting('transfa.user_id', true), '')::uuid
        OR recipient_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_transfers ON transfers TO ${owner}, ${worker} USING (true) WITH CHECK (true);

GRANT SELECT ON transfers TO ${handler};
GRANT SELECT, INSERT, UPDATE ON transfers TO ${worker};

-- Payments that have left suspense for their recipients. A row of its own, which a page looks up: the event of a
-- release is about the release, so it may come before that of the payment, and at the same time.
CREATE TABLE releases (
    transfer_id         uuid PRIMARY KEY                 -- the payment
);

ALTER TABLE releases ENABLE ROW LEVEL SECURITY;
ALTER TABLE releases FORCE ROW LEVEL SECURITY;
CREATE POLICY own_releases ON releases FOR SELECT TO ${handler}
    USING (EXISTS (SELECT 1 FROM transfers t WHERE t.id = transfer_id));     -- of which the reader sees their own
CREATE POLICY all_releases ON releases TO ${owner}, ${worker} USING (true) WITH CHECK (true);
GRANT SELECT ON releases TO ${handler};
GRANT SELECT, INSERT ON releases TO ${worker};
