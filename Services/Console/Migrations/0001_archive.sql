-- Every event of the suite, once, as it was published.
--
-- Ids are UUIDv7s, so their order is that of time: a partition is a range of ids, one day long. There is a partition for
-- each day that is kept and for some days ahead; whatever claims another day goes to `archived_events_other`. The order
-- in which events were stored is `position`.

CREATE TABLE archived_events (
    id              uuid NOT NULL,
    position        bigint NOT NULL,
    time            timestamptz NOT NULL,                -- as the publisher says
    stored_at       timestamptz NOT NULL,
    sequence        bigint NOT NULL,
    correlation_id  uuid,
    causation_id    uuid,
    source          text COLLATE "C" NOT NULL,
    type            text COLLATE "C" NOT NULL,
    subject         text COLLATE "C" NOT NULL,
    origin          text COLLATE "C" NOT NULL CHECK (origin IN ('stream', 'outbox', 'import')),
    refs            text[] COLLATE "C",                  -- transfers and payments that the data names, besides the subject
    body            text NOT NULL,                       -- the envelope, byte for byte; personal data in it is sealed
    PRIMARY KEY (id)
) PARTITION BY RANGE (id);

CREATE INDEX archived_events_position ON archived_events (position);
CREATE INDEX archived_events_type ON archived_events (type, id);
CREATE INDEX archived_events_subject ON archived_events (subject, id);
CREATE INDEX archived_events_correlation ON archived_events (correlation_id) WHERE correlation_id IS NOT NULL;
CREATE INDEX archived_events_causation ON archived_events (causation_id) WHERE causation_id IS NOT NULL;
CREATE INDEX archived_events_refs ON archived_events USING gin (refs) WHERE refs IS NOT NULL;

CREATE TABLE archived_events_other PARTITION OF archived_events DEFAULT;

-- What stood in the event log and is no event.
CREATE TABLE odd_messages (
    digest          bytea PRIMARY KEY,                   -- SHA-256 of the bytes
    stream_offset   bigint NOT NULL,
    routing_key     text NOT NULL,
    reason          text NOT NULL,
    size            integer NOT NULL,
    body            bytea NOT NULL,                      -- the first bytes, when there are very many
    stored_at       timestamptz NOT NULL
);
CREATE INDEX odd_messages_stored ON odd_messages (stored_at);

-- How far the archive is. Whoever stores events locks the row, so positions become visible in their order.
CREATE TABLE archive_progress (
    single          boolean PRIMARY KEY DEFAULT true CHECK (single),
    position        bigint NOT NULL DEFAULT 0,           -- of the newest event
    epoch           bigint NOT NULL DEFAULT 0,           -- counts readers of the log: only the last one may go on
    stream_offset   bigint,                              -- the last entry that was read; null before the first
    stream_digest   bytea,                               -- its SHA-256; null when the log was made anew and nothing read since
    newest_time     timestamptz,                         -- of the event that was stored last from the log
    read_at         timestamptz
);
INSERT INTO archive_progress DEFAULT VALUES;

-- Parts of the event log that were gone before they were read.
CREATE TABLE archive_gaps (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    reason          text NOT NULL CHECK (reason IN ('began_late', 'truncated', 'made_anew', 'asked')),
    since           timestamptz NOT NULL,                -- outboxes are read from here
    first_missing   bigint,
    last_missing    bigint,
    found_at        timestamptz NOT NULL,
    closed_at       timestamptz
);

-- How far the outbox of a service was read for a gap.
CREATE TABLE archive_backfills (
    gap_id          bigint NOT NULL REFERENCES archive_gaps,
    service         text COLLATE "C" NOT NULL,
    after_id        uuid NOT NULL,
    seen            bigint NOT NULL DEFAULT 0,
    added           bigint NOT NULL DEFAULT 0,
    finished_at     timestamptz,
    PRIMARY KEY (gap_id, service)
);

-- Days --------------------------------------------------------------------------------------------------------------
-- Days are numbered from 1970-01-01, as in an id.

CREATE FUNCTION first_id_of_day(day integer) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT (lpad(to_hex(day::bigint * 86400000), 12, '0') || repeat('0', 20))::uuid
$$;

CREATE FUNCTION archive_partition(day integer) RETURNS text LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT 'archived_events_' || to_char(date '1970-01-01' + day, 'YYYYMMDD')
$$;

-- Makes the partitions of days; what was stored for them among the others moves there.
CREATE PROCEDURE ensure_archive_days(days integer[]) LANGUAGE plpgsql
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

CREATE FUNCTION archive_days() RETURNS TABLE (day integer, events bigint, bytes bigint) LANGUAGE sql STABLE AS $$
    SELECT to_date(right(c.relname, 8), 'YYYYMMDD') - date '1970-01-01', greatest(c.reltuples, 0)::bigint,
        pg_total_relation_size(c.oid)
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'archived_events'::regclass AND c.relname <> 'archived_events_other'
    ORDER BY 1
$$;

-- Drops a day as a whole. It gives up when readers hold it longer than a moment: others would queue up behind it.
CREATE PROCEDURE drop_archive_day(day integer) LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '2s' AS $$
BEGIN
    EXECUTE format('DROP TABLE IF EXISTS %I', archive_partition(day));
END $$;

-- What claims another day has no partition to be dropped with.
CREATE FUNCTION forget_others(p_before timestamptz, p_limit bigint) RETURNS bigint LANGUAGE sql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH gone AS (
        DELETE FROM archived_events_other WHERE ctid IN (
            SELECT ctid FROM archived_events_other WHERE stored_at < p_before LIMIT p_limit)
        RETURNING 1
    ), odd AS (
        DELETE FROM odd_messages WHERE digest IN (
            SELECT digest FROM odd_messages WHERE stored_at < p_before LIMIT p_limit)
        RETURNING 1
    )
    SELECT (SELECT count(*) FROM gone) + (SELECT count(*) FROM odd)
$$;

DO $$
DECLARE
    days integer[] := ARRAY(SELECT ((now() AT TIME ZONE 'UTC')::date - date '1970-01-01') + generate_series(-2, 8));
BEGIN
    CALL ensure_archive_days(days);
END $$;

-- Rights ------------------------------------------------------------------------------------------------------------
-- Nobody but the owner can change or delete an event.

GRANT SELECT ON archived_events, odd_messages, archive_progress, archive_gaps, archive_backfills TO ${handler}, ${worker};
GRANT INSERT ON archived_events, odd_messages TO ${worker};
GRANT INSERT, UPDATE ON archive_gaps, archive_backfills TO ${worker};
GRANT UPDATE ON archive_progress TO ${worker};
REVOKE ALL ON PROCEDURE ensure_archive_days(integer[]), drop_archive_day(integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION forget_others(timestamptz, bigint) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE ensure_archive_days(integer[]), drop_archive_day(integer) TO ${worker};
GRANT EXECUTE ON FUNCTION forget_others(timestamptz, bigint) TO ${worker};
