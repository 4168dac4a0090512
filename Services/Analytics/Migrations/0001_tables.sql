-- Money in and out, and where it goes.
--
-- What is counted is a projection of events, in generations: people see the live one, a rebuild fills another beside
-- it, and every event that is heard meanwhile goes into both. What a person has said is in tables of its own and
-- belongs to no generation.

-- The projection ----------------------------------------------------------------------------------------------------

INSERT INTO projections (name, since) VALUES ('money', now());

-- Of each transfer, whether it counts. What was heard of it is in the archive, from which all can be made again.
CREATE TABLE facts (
    id              uuid NOT NULL,                      -- of the transfer
    state           text COLLATE "C" NOT NULL CHECK (state IN ('counted', 'taken_back')),
    generation      smallint NOT NULL,
    PRIMARY KEY (generation, id)
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

-- A row that says nothing goes: whether something came and went, or never came, must make no difference.
CREATE TRIGGER day_totals_empty AFTER UPDATE ON day_totals FOR EACH ROW
    WHEN (NEW.in_wallet = 0 AND NEW.in_bank = 0 AND NEW.money_out = 0 AND NEW.fees = 0)
    EXECUTE FUNCTION drop_empty_day();
CREATE TRIGGER day_categories_empty AFTER UPDATE ON day_categories FOR EACH ROW
    WHEN (NEW.money_in = 0 AND NEW.money_out = 0) EXECUTE FUNCTION drop_empty_day();

-- Categories and names ----------------------------------------------------------------------------------------------

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

-- Usernames are public. Of who is erased the row stays without one, so that a name that is heard late is not kept.
CREATE TABLE names (
    user_id         uuid PRIMARY KEY,
    username        text COLLATE "C"
);

-- Rights ------------------------------------------------------------------------------------------------------------
-- Whose rows are shown is asked once per statement: the sums over a heavy user's counterparties read tens of thousands
-- of rows, and reading the setting and making an id of it for each took as long as adding them up.

ALTER TABLE movements ENABLE ROW LEVEL SECURITY;
ALTER TABLE movements FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON movements TO ${handler}
    USING (user_id = (SELECT nullif(current_setting('transfa.user_id', true), '')::uuid))
    WITH CHECK (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_rows ON movements TO ${owner}, ${worker} USING (true) WITH CHECK (true);

ALTER TABLE day_totals ENABLE ROW LEVEL SECURITY;
ALTER TABLE day_totals FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON day_totals TO ${handler}
    USING (user_id = (SELECT nullif(current_setting('transfa.user_id', true), '')::uuid))
    WITH CHECK (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_rows ON day_totals TO ${owner}, ${worker} USING (true) WITH CHECK (true);

ALTER TABLE day_categories ENABLE ROW LEVEL SECURITY;
ALTER TABLE day_categories FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON day_categories TO ${handler}
    USING (user_id = (SELECT nullif(current_setting('transfa.user_id', true), '')::uuid))
    WITH CHECK (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_rows ON day_categories TO ${owner}, ${worker} USING (true) WITH CHECK (true);

ALTER TABLE chosen_categories ENABLE ROW LEVEL SECURITY;
ALTER TABLE chosen_categories FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON chosen_categories TO ${handler}
    USING (user_id = (SELECT nullif(current_setting('transfa.user_id', true), '')::uuid))
    WITH CHECK (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_rows ON chosen_categories TO ${owner}, ${worker} USING (true) WITH CHECK (true);

GRANT SELECT ON movements, day_totals, day_categories, chosen_categories, names TO ${handler};
GRANT INSERT, UPDATE, DELETE ON chosen_categories TO ${handler};
GRANT SELECT, INSERT, UPDATE ON word_categories TO ${worker};
GRANT SELECT, INSERT, UPDATE, DELETE ON facts, movements, day_totals, day_categories, chosen_categories, names
    TO ${worker};
