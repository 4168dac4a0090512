-- What tables and migrations need: applied before them. Days are numbered from 1970-01-01, as in an id.

CREATE OR REPLACE FUNCTION first_id_of_day(day integer) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT (lpad(to_hex(day::bigint * 86400000), 12, '0') || repeat('0', 20))::uuid
$$;

CREATE OR REPLACE FUNCTION archive_partition(day integer) RETURNS text LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT 'archived_events_' || to_char(date '1970-01-01' + day, 'YYYYMMDD')
$$;

-- Makes the partitions of days; what was stored for them among the others moves there.
CREATE OR REPLACE PROCEDURE ensure_archive_days(days integer[]) LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    d integer;
    t text;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('archive_days', 0));
    FOR d IN SELECT DISTINCT u FROM unnest(days) AS u ORDER BY u LOOP
        t := archive_partition(d);
        CONTINUE WHEN to_regclass(t) IS NOT NULL;
        -- Until the commit nothing new comes to the others, which could belong to the day.
        LOCK TABLE archived_events_other IN ACCESS EXCLUSIVE MODE;
        EXECUTE format('CREATE TABLE %I (LIKE archived_events INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', t);
        EXECUTE format('WITH moved AS (DELETE FROM archived_events_other WHERE id >= %L AND id < %L RETURNING *)
            INSERT INTO %I SELECT * FROM moved', first_id_of_day(d), first_id_of_day(d + 1), t);
        EXECUTE format('ALTER TABLE archived_events ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
            t, first_id_of_day(d), first_id_of_day(d + 1));
    END LOOP;
END $$;
