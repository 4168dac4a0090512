-- What was sent lately is looked for when a queue was gone; rows lie in the order of their time, so a BRIN is enough.
CREATE INDEX outbox_sent ON outbox USING brin (sent_at) WITH (autosummarize = on);

CREATE FUNCTION newest_inbox_day() RETURNS date LANGUAGE sql STABLE AS $$
    SELECT max(to_date(right(c.relname, 8), 'YYYYMMDD'))
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'inbox'::regclass
$$;
