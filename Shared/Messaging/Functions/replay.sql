-- Dry runs: what is written in a transaction that is rolled back.

-- Its arguments are the table, which for a partition is the one it belongs to, and the columns of its primary key.
CREATE OR REPLACE FUNCTION record_row_change() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    INSERT INTO row_changes (event_id, relation, operation, key_columns, before, after)
    VALUES (current_setting('transfa.recorder')::uuid, tg_argv[0], lower(tg_op), tg_argv[1],
        CASE WHEN tg_op <> 'INSERT' THEN to_jsonb(OLD) END, CASE WHEN tg_op <> 'DELETE' THEN to_jsonb(NEW) END);
    RETURN NULL;
END $$;

-- Tables of the service that have no recorder yet; what messaging keeps for itself needs none.
CREATE OR REPLACE FUNCTION unrecorded_tables() RETURNS SETOF text LANGUAGE sql STABLE AS $$
    SELECT c.relname::text FROM pg_class c
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
        AND c.relname <> ALL (ARRAY['row_changes', 'schema_migrations', 'schema_functions', 'clock_offset',
            'event_sequences', 'inbox', 'parked_keys', 'parked_events', 'parked_tries', 'parked_retries', 'lone_runs',
            'idempotency_keys', 'schedules', 'audit_log', 'audit_head', 'requests', 'projections',
            'projection_rebuilds', 'projection_events'])
        AND NOT EXISTS (SELECT 1 FROM pg_trigger t WHERE t.tgrelid = c.oid AND t.tgname = 'record_row_change')
    ORDER BY 1
$$;

-- Gives one table its recorder. It gives up when the table is written for longer than a moment: others would queue up
-- behind it.
CREATE OR REPLACE PROCEDURE attach_recorder(p_table text) LANGUAGE plpgsql
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
