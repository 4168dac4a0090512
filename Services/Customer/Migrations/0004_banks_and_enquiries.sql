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
