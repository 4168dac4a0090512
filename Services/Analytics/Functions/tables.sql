-- What tables and migrations need: applied before them.

-- A row that says nothing goes: whether something came and went, or never came, must make no difference.
CREATE OR REPLACE FUNCTION drop_empty_day() RETURNS trigger LANGUAGE plpgsql AS $$
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
