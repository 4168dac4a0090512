-- Where money goes, and a projection that can be made again.
--
-- `facts` keeps what was heard of each transfer, without text and names. Everything else that is counted is a
-- projection of it, in generations: people see the live one, a rebuild fills another beside it, and every fact that is
-- heard meanwhile goes into both. What a person has said is in tables of its own and belongs to no generation.
-- The tables of 0001 are replaced; nothing had been released on them.

DROP TABLE daily_totals, movements, effects;

CREATE TABLE facts (
    id              uuid PRIMARY KEY,                   -- of the transfer
    type            text COLLATE "C",                   -- of the event; null: only its return was heard
    data            text,                               -- of the event: ids, amounts and words of ours
    part            smallint NOT NULL,
    state           text COLLATE "C" NOT NULL CHECK (state IN ('counted', 'taken_back')),
    updated_at      timestamptz NOT NULL,
    CHECK ((type IS NULL) = (data IS NULL) AND (type IS NOT NULL OR state = 'taken_back'))
);

-- Whoever counts holds this row shared: no generation begins or ends under a fact that is being counted.
CREATE TABLE projection (
    single          boolean PRIMARY KEY DEFAULT true CHECK (single),
    live            smallint NOT NULL DEFAULT 1,
    building        smallint CHECK (building <> live)
);
INSERT INTO projection DEFAULT VALUES;

CREATE TABLE rebuilds (
    generation      smallint PRIMARY KEY,
    replaces        smallint NOT NULL,
    done_to         uuid NOT NULL,                      -- facts are read in the order of their ids
    facts           bigint NOT NULL DEFAULT 0,
    days_changed    bigint,                             -- in how many days of users it differs from what it replaced
    started_at      timestamptz NOT NULL,
    finished_at     timestamptz
);

CREATE TABLE movements (
    generation      smallint NOT NULL,
    fact_id         uuid NOT NULL,
    user_id         uuid NOT NULL,
    direction       text COLLATE "C" NOT NULL CHECK (direction IN ('in_wallet', 'in_bank', 'money_out', 'fees')),
    amount          bigint NOT NULL CHECK (amount > 0),
    category        text COLLATE "C" NOT NULL,
    counterparty_id uuid,
    day             date NOT NULL,                      -- in Lagos
    part            smallint NOT NULL,
    PRIMARY KEY (generation, fact_id, user_id, direction)
);
CREATE INDEX movements_day ON movements (generation, user_id, day)
    INCLUDE (counterparty_id, direction, amount) WHERE counterparty_id IS NOT NULL;

-- In parts, one per partition of events: two batches of events never write the same row. A single part may fall below
-- zero (a later version may divide differently), their sum may not.
CREATE TABLE day_totals (
    generation      smallint NOT NULL,
    user_id         uuid NOT NULL,
    day             date NOT NULL,
    part            smallint NOT NULL,
    in_wallet       bigint NOT NULL,
    in_bank         bigint NOT NULL,
    money_out       bigint NOT NULL,
    fees            bigint NOT NULL,
    PRIMARY KEY (generation, user_id, day, part)
) WITH (fillfactor = 70);

CREATE TABLE day_categories (
    generation      smallint NOT NULL,
    user_id         uuid NOT NULL,
    day             date NOT NULL,
    part            smallint NOT NULL,
    category        text COLLATE "C" NOT NULL,
    money_in        bigint NOT NULL,
    money_out       bigint NOT NULL,
    PRIMARY KEY (generation, user_id, day, part, category)
) WITH (fillfactor = 70);

-- The category that the words of a payment speak for. The words themselves are sealed and kept nowhere here.
CREATE TABLE word_categories (
    transaction_id  uuid PRIMARY KEY,
    category        text COLLATE "C" NOT NULL
);

-- What a person has chosen for a transfer.
CREATE TABLE chosen_categories (
    user_id         uuid NOT NULL,
    transaction_id  uuid NOT NULL,
    category        text COLLATE "C" NOT NULL,
    updated_at      timestamptz NOT NULL,
    PRIMARY KEY (user_id, transaction_id)
);

-- Usernames are public.
CREATE TABLE names (
    user_id         uuid PRIMARY KEY,
    username        text COLLATE "C" NOT NULL
);

DO $$
DECLARE
    t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['movements', 'day_totals', 'day_categories', 'chosen_categories'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY own_rows ON %I TO ${handler}
            USING (user_id = nullif(current_setting(''transfa.user_id'', true), '''')::uuid)
            WITH CHECK (user_id = nullif(current_setting(''transfa.user_id'', true), '''')::uuid)', t);
        EXECUTE format('CREATE POLICY all_rows ON %I TO ${owner}, ${worker} USING (true) WITH CHECK (true)', t);
    END LOOP;
END $$;

GRANT SELECT ON projection, movements, day_totals, day_categories, chosen_categories, names TO ${handler};
GRANT INSERT, UPDATE, DELETE ON chosen_categories TO ${handler};
GRANT SELECT, INSERT, UPDATE ON facts, projection, rebuilds, word_categories TO ${worker};
GRANT SELECT, INSERT, UPDATE, DELETE ON movements, day_totals, day_categories, chosen_categories, names TO ${worker};
