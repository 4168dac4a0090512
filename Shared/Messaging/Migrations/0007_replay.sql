-- Replay of handled events.
--
-- A dry run handles events in a transaction that is rolled back, and wants to know what was written in it, also by
-- functions of the database. Only triggers see that. A table gets its recorder when the first dry run needs it, so a
-- database that nobody replays into pays nothing; from then on a recorder costs a look at a setting per row that is
-- written, and records only in transactions that say so.

-- Rows of this table are never committed.
CREATE UNLOGGED TABLE row_changes (
    number          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id        uuid NOT NULL,                       -- that was being handled
    relation        text NOT NULL,
    operation       text NOT NULL,
    key_columns     text NOT NULL,                       -- names of the primary key's columns, with commas
    before          jsonb,
    after           jsonb
);

-- Its arguments are the table, which for a partition is the one it belongs to, and the columns of its primary key.
CREATE FUNCTION record_row_change() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    INSERT INTO row_changes (event_id, relation, operation, key_columns, before, after)
    VALUES (current_setting('transfa.recorder')::uuid, tg_argv[0], lower(tg_op), tg_argv[1],
        CASE WHEN tg_op <> 'INSERT' THEN to_jsonb(OLD) END, CASE WHEN tg_op <> 'DELETE' THEN to_jsonb(NEW) END);
    RETURN NULL;
END $$;

-- Tables of the service that have no recorder yet; what messaging keeps for itself needs none.
CREATE FUNCTION unrecorded_tables() RETURNS SETOF text LANGUAGE sql STABLE AS $$
    SELECT c.relname::text FROM pg_class c
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
        AND c.relname <> ALL (ARRAY['row_changes', 'schema_migrations', 'clock_offset', 'event_sequences', 'inbox',
            'parked_keys', 'parked_events', 'parked_tries', 'parked_retries', 'lone_runs', 'idempotency_keys', 'schedules',
            'audit_log', 'audit_head', 'requests', 'projections', 'projection_rebuilds', 'projection_events'])
        AND NOT EXISTS (SELECT 1 FROM pg_trigger t WHERE t.tgrelid = c.oid AND t.tgname = 'record_row_change')
    ORDER BY 1
$$;

-- Gives one table its recorder. It gives up when the table is written for longer than a moment: others would queue up
-- behind it.
CREATE PROCEDURE attach_recorder(p_table text) LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '300ms' AS $$
DECLARE
    keys text;
BEGIN
    IF NOT EXISTS (SELECT 1 FROM unrecorded_tables() u WHERE u = p_table) THEN RETURN; END IF;
    SELECT string_agg(a.attname, ',' ORDER BY k.ordinal) INTO keys
    FROM pg_constraint c, unnest(c.conkey) WITH ORDINALITY AS k(number, ordinal), pg_attribute a
    WHERE c.conrelid = to_regclass(quote_ident(p_table)) AND c.contype = 'p'
        AND a.attrelid = c.conrelid AND a.attnum = k.number;
    EXECUTE format('CREATE TRIGGER record_row_change AFTER INSERT OR UPDATE OR DELETE ON %I FOR EACH ROW
        WHEN (coalesce(current_setting(''transfa.recorder'', true), '''') <> '''')
        EXECUTE FUNCTION record_row_change(%L, %L)', p_table, p_table, coalesce(keys, ''));
END $$;

-- A replay without effects: whatever is asked for in its transactions waits for an operator.
CREATE FUNCTION skip_effects() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.state = 'queued' THEN
        NEW.state := 'skipped';
        NEW.last_error := 'replayed_without_effects';
        NEW.finished_at := transfa_now();
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER skip_effects BEFORE INSERT ON jobs FOR EACH ROW
    WHEN (current_setting('transfa.effects', true) = 'off') EXECUTE FUNCTION skip_effects();

GRANT SELECT ON row_changes TO ${worker};
REVOKE ALL ON PROCEDURE attach_recorder(text) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE attach_recorder(text) TO ${worker};
