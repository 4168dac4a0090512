-- Partitions are days, and a row's day is that inside its UUIDv7. They are made by ensure_partitions() in tables.sql.

-- Milliseconds since 1970 stand in the first 48 bits of a UUIDv7 (RFC 9562, 5.7).
CREATE OR REPLACE FUNCTION uuid_v7_day(id uuid) RETURNS date LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT date '1970-01-01'
        + (('x' || translate(left(id::text, 13), '-', ''))::bit(48)::bigint / 86400000)::int
$$;

-- Drops days before `keep_from`; a day of the outbox with unsent rows stays.
CREATE OR REPLACE PROCEDURE drop_partitions(keep_from date) LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    p record;
    unsent boolean;
BEGIN
    FOR p IN
        SELECT c.relname, parent.relname AS parent, to_date(right(c.relname, 8), 'YYYYMMDD') AS day
        FROM pg_inherits i
        JOIN pg_class c ON c.oid = i.inhrelid
        JOIN pg_class parent ON parent.oid = i.inhparent
        WHERE parent.relname IN ('outbox', 'inbox', 'requests') AND c.relkind = 'r'
    LOOP
        CONTINUE WHEN p.day >= keep_from;
        unsent := false;
        IF p.parent = 'outbox' THEN
            EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I WHERE sent_at IS NULL)', p.relname) INTO unsent;
        END IF;
        IF NOT unsent THEN EXECUTE format('DROP TABLE %I', p.relname); END IF;
    END LOOP;
END $$;

CREATE OR REPLACE FUNCTION oldest_inbox_day() RETURNS date LANGUAGE sql STABLE AS $$
    SELECT min(to_date(right(c.relname, 8), 'YYYYMMDD'))
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'inbox'::regclass
$$;

CREATE OR REPLACE FUNCTION newest_inbox_day() RETURNS date LANGUAGE sql STABLE AS $$
    SELECT max(to_date(right(c.relname, 8), 'YYYYMMDD'))
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'inbox'::regclass
$$;
