-- The projection can be made again from the archive of all events: analytics no longer keeps a copy of what it heard.
--
-- `facts` becomes part of the projection: of each transfer it says whether it counts. Who counts, and in which
-- generation, is now in `projections`, which every service has.

INSERT INTO projections (name, live, since)
SELECT 'money', p.live, least(now(), (SELECT min(t.day) - interval '1 day' FROM day_totals t WHERE t.generation = p.live))
FROM projection p;

DELETE FROM movements WHERE generation <> (SELECT live FROM projection);
DELETE FROM day_totals WHERE generation <> (SELECT live FROM projection);
DELETE FROM day_categories WHERE generation <> (SELECT live FROM projection);

ALTER TABLE facts DROP COLUMN type, DROP COLUMN data, DROP COLUMN part, DROP COLUMN updated_at;
ALTER TABLE facts ADD COLUMN generation smallint;
UPDATE facts SET generation = (SELECT live FROM projection);
ALTER TABLE facts ALTER COLUMN generation SET NOT NULL, DROP CONSTRAINT facts_pkey, ADD PRIMARY KEY (generation, id);
GRANT DELETE ON facts TO ${worker};

DROP TABLE rebuilds, projection;

-- A row that says nothing goes: whether something came and went, or never came, must make no difference.
DELETE FROM day_totals WHERE in_wallet = 0 AND in_bank = 0 AND money_out = 0 AND fees = 0;
DELETE FROM day_categories WHERE money_in = 0 AND money_out = 0;

CREATE FUNCTION drop_empty_day() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_TABLE_NAME = 'day_totals' THEN
        DELETE FROM day_totals d WHERE d.generation = NEW.generation AND d.user_id = NEW.user_id AND d.day = NEW.day
            AND d.part = NEW.part AND d.in_wallet = 0 AND d.in_bank = 0 AND d.money_out = 0 AND d.fees = 0;
    ELSE
        DELETE FROM day_categories d WHERE d.generation = NEW.generation AND d.user_id = NEW.user_id AND d.day = NEW.day
            AND d.part = NEW.part AND d.category = NEW.category AND d.money_in = 0 AND d.money_out = 0;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER day_totals_empty AFTER UPDATE ON day_totals FOR EACH ROW
    WHEN (NEW.in_wallet = 0 AND NEW.in_bank = 0 AND NEW.money_out = 0 AND NEW.fees = 0) EXECUTE FUNCTION drop_empty_day();
CREATE TRIGGER day_categories_empty AFTER UPDATE ON day_categories FOR EACH ROW
    WHEN (NEW.money_in = 0 AND NEW.money_out = 0) EXECUTE FUNCTION drop_empty_day();
