-- Days of the archive. They are made by ensure_archive_days() in tables.sql.

CREATE OR REPLACE FUNCTION archive_days() RETURNS TABLE (day integer, events bigint, bytes bigint)
LANGUAGE sql STABLE AS $$
    SELECT to_date(right(c.relname, 8), 'YYYYMMDD') - date '1970-01-01', greatest(c.reltuples, 0)::bigint,
        pg_total_relation_size(c.oid)
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'archived_events'::regclass AND c.relname <> 'archived_events_other'
    ORDER BY 1
$$;

-- Drops a day as a whole. It gives up when readers hold it longer than a moment: others would queue up behind it.
CREATE OR REPLACE PROCEDURE drop_archive_day(day integer) LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '2s' AS $$
BEGIN
    EXECUTE format('DROP TABLE IF EXISTS %I', archive_partition(day));
END $$;

-- What claims another day has no partition to be dropped with.
CREATE OR REPLACE FUNCTION forget_others(p_before timestamptz, p_limit bigint) RETURNS bigint LANGUAGE sql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH gone AS (
        DELETE FROM archived_events_other WHERE ctid IN (
            SELECT ctid FROM archived_events_other WHERE stored_at < p_before LIMIT p_limit)
        RETURNING 1
    ), malformed AS (
        DELETE FROM malformed_messages WHERE digest IN (
            SELECT digest FROM malformed_messages WHERE stored_at < p_before LIMIT p_limit)
        RETURNING 1
    )
    SELECT (SELECT count(*) FROM gone) + (SELECT count(*) FROM malformed)
$$;
