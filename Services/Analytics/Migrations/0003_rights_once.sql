-- Whose rows are shown is asked once per statement: the sums over a heavy user's counterparties read tens of thousands of
-- rows, and reading the setting and making an id of it for each took as long as adding them up.

DO $$
DECLARE
    t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['movements', 'day_totals', 'day_categories', 'chosen_categories'] LOOP
        EXECUTE format('ALTER POLICY own_rows ON %I
            USING (user_id = (SELECT nullif(current_setting(''transfa.user_id'', true), '''')::uuid))', t);
    END LOOP;
END $$;
