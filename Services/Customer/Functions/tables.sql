-- What tables and migrations need: applied before them.

-- Who changed a tier, when and why stays.
CREATE OR REPLACE FUNCTION keep_tier_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'append_only: %', tg_table_name USING ERRCODE = 'insufficient_privilege';
END $$;

-- Closed is the last word: nothing opens a profile again, whatever asks for it.
CREATE OR REPLACE FUNCTION refuse_reopening() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'profile_closed' USING ERRCODE = 'check_violation';
END $$;
