-- What tables and migrations need: applied before them, so no body is looked at until all tables are there.

-- The time, moved by `clock_offset`. All SQL reads it here.
--
-- PL/pgSQL, so that its plan is kept: as an SQL function it would be planned again in each statement.
CREATE OR REPLACE FUNCTION transfa_now() RETURNS timestamptz LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN clock_timestamp() + (SELECT moved FROM clock_offset);
END $$;

-- Makes the partitions of these days, the last one included.
CREATE OR REPLACE PROCEDURE ensure_partitions(first_day date, last_day date) LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    d date;
    t text;
BEGIN
    FOR d IN SELECT g::date FROM generate_series(first_day, last_day, interval '1 day') g LOOP
        FOREACH t IN ARRAY ARRAY['outbox', 'inbox', 'requests'] LOOP
            IF to_regclass(t || to_char(d, '_YYYYMMDD')) IS NULL THEN
                EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)',
                    t || to_char(d, '_YYYYMMDD'), t, d, d + 1);
            END IF;
        END LOOP;
    END LOOP;
END $$;

-- A replay without effects: whatever is asked for in its transactions waits for an operator.
CREATE OR REPLACE FUNCTION skip_effects() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.state = 'queued' THEN
        NEW.state := 'skipped';
        NEW.last_error := 'replayed_without_effects';
        NEW.finished_at := transfa_now();
    END IF;
    RETURN NEW;
END $$;

-- Acts of operators stay as they were written.
CREATE OR REPLACE FUNCTION refuse_changed_audit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'append_only: %', tg_table_name USING ERRCODE = 'insufficient_privilege';
END $$;
