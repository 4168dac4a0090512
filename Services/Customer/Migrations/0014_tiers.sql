-- How far a user was identified, as far as limits ask: 1 by the BVN, 2 by documents, 3 by everything a bank asks for. Who
-- changed it, when and why stays.

ALTER TABLE users ADD COLUMN tier smallint NOT NULL DEFAULT 1 CHECK (tier BETWEEN 1 AND 3);

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

CREATE FUNCTION keep_tier_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append only', tg_table_name USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER tier_changes_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON tier_changes
    FOR EACH STATEMENT EXECUTE FUNCTION keep_tier_changes();

ALTER TABLE tier_changes ENABLE ROW LEVEL SECURITY;
ALTER TABLE tier_changes FORCE ROW LEVEL SECURITY;
CREATE POLICY all_changes ON tier_changes TO ${owner}, ${worker} USING (true) WITH CHECK (true);
GRANT SELECT, INSERT ON tier_changes TO ${worker};
