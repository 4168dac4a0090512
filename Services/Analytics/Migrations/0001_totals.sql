-- Money in and out. `daily_totals` is what people see; `movements` says where each kobo of it comes from, and `effects`
-- which transfers and payments count.

CREATE TABLE effects (
    id              uuid PRIMARY KEY,                   -- of the transfer, or of the payment from outside
    state           text COLLATE "C" NOT NULL CHECK (state IN ('counted', 'taken_back')),
    updated_at      timestamptz NOT NULL
);

CREATE TABLE movements (
    transaction_id  uuid NOT NULL REFERENCES effects (id),
    user_id         uuid NOT NULL,
    direction       text COLLATE "C" NOT NULL CHECK (direction IN ('in_wallet', 'in_bank', 'money_out', 'fees')),
    amount          bigint NOT NULL CHECK (amount > 0),
    day             date NOT NULL,                      -- in Lagos
    part            smallint NOT NULL,
    PRIMARY KEY (transaction_id, user_id, direction)
);

-- In parts, one per partition of events: two batches of events never write the same row. A single part may fall below
-- zero (a later version may divide differently), their sum may not.
CREATE TABLE daily_totals (
    user_id         uuid NOT NULL,
    day             date NOT NULL,
    part            smallint NOT NULL,
    in_wallet       bigint NOT NULL,
    in_bank         bigint NOT NULL,
    money_out       bigint NOT NULL,
    fees            bigint NOT NULL,
    PRIMARY KEY (user_id, day, part)
) WITH (fillfactor = 70);

ALTER TABLE movements ENABLE ROW LEVEL SECURITY;
ALTER TABLE movements FORCE ROW LEVEL SECURITY;
CREATE POLICY all_movements ON movements TO ${owner}, ${worker} USING (true) WITH CHECK (true);

ALTER TABLE daily_totals ENABLE ROW LEVEL SECURITY;
ALTER TABLE daily_totals FORCE ROW LEVEL SECURITY;
CREATE POLICY own_totals ON daily_totals TO ${handler}
    USING (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_totals ON daily_totals TO ${owner}, ${worker} USING (true) WITH CHECK (true);

GRANT SELECT ON daily_totals TO ${handler};
GRANT SELECT, INSERT, UPDATE ON effects, daily_totals TO ${worker};
GRANT SELECT, INSERT ON movements TO ${worker};
