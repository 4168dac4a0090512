-- What every service needs to take part: outbox, inbox, parked events, jobs, idempotency keys, schedules.
--
-- `outbox` and `inbox` are partitioned by the day inside an event's UUIDv7, never by arrival: the same event is found
-- in the same partition however late it comes, and old days are dropped instead of deleted row by row.

-- Time --------------------------------------------------------------------------------------------------------------
-- All SQL reads the time here. The offset moves it for tests; only the sandbox profile may set it.

CREATE TABLE clock_offset (
    single  boolean PRIMARY KEY DEFAULT true CHECK (single),
    moved   interval NOT NULL DEFAULT '0'
);
INSERT INTO clock_offset DEFAULT VALUES;

-- PL/pgSQL, so that its plan is kept: as an SQL function it would be planned again in each statement.
CREATE FUNCTION transfa_now() RETURNS timestamptz LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN clock_timestamp() + (SELECT moved FROM clock_offset);
END $$;

-- Milliseconds since 1970 stand in the first 48 bits of a UUIDv7 (RFC 9562, 5.7).
CREATE FUNCTION uuid_v7_day(id uuid) RETURNS date LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT date '1970-01-01'
        + (('x' || translate(left(id::text, 13), '-', ''))::bit(48)::bigint / 86400000)::int
$$;

-- Outbox ------------------------------------------------------------------------------------------------------------

CREATE TABLE outbox (
    day             date NOT NULL,
    position        bigint GENERATED ALWAYS AS IDENTITY,
    id              uuid NOT NULL,
    type            text COLLATE "C" NOT NULL,
    version         smallint NOT NULL DEFAULT 1,
    subject         text COLLATE "C" NOT NULL,
    sequence        bigint NOT NULL,
    correlation_id  uuid,
    causation_id    uuid,
    traceparent     text,
    time            timestamptz NOT NULL,
    data            text NOT NULL,                       -- JSON of the data alone; the relay puts the envelope around it
    sent_at         timestamptz,
    PRIMARY KEY (day, id)
) PARTITION BY RANGE (day);

CREATE INDEX outbox_unsent ON outbox (position) WHERE sent_at IS NULL;
CREATE INDEX outbox_correlation ON outbox (correlation_id);

-- Order is promised per subject: the row is locked from here to the commit, so positions and sequences agree.
CREATE TABLE event_sequences (
    subject         text COLLATE "C" PRIMARY KEY,
    sequence        bigint NOT NULL
) WITH (fillfactor = 70);

-- Inbox -------------------------------------------------------------------------------------------------------------

CREATE TABLE inbox (
    day             date NOT NULL,
    id              uuid NOT NULL,
    source          text COLLATE "C" NOT NULL,
    type            text COLLATE "C" NOT NULL,
    subject         text COLLATE "C" NOT NULL,
    sequence        bigint NOT NULL,
    correlation_id  uuid,
    outcome         text NOT NULL CHECK (outcome IN ('handled', 'parked', 'discarded')),
    microseconds    integer NOT NULL,
    handled_at      timestamptz NOT NULL,
    PRIMARY KEY (day, id)
) PARTITION BY RANGE (day);

CREATE INDEX inbox_correlation ON inbox (correlation_id);

-- Parked events -----------------------------------------------------------------------------------------------------
-- A row in parked_keys is a lock: while it exists, later events of the subject queue up behind the one that failed.

CREATE TABLE parked_keys (
    subject         text COLLATE "C" PRIMARY KEY,
    reason          text NOT NULL,
    parked_at       timestamptz NOT NULL
);

CREATE TABLE parked_events (
    position        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    subject         text COLLATE "C" NOT NULL,
    id              uuid NOT NULL UNIQUE,
    type            text COLLATE "C" NOT NULL,
    body            text NOT NULL,                       -- the whole envelope; personal data in it is sealed
    reason          text NOT NULL,
    attempts        integer NOT NULL DEFAULT 0,
    parked_at       timestamptz NOT NULL
);
CREATE INDEX parked_events_subject ON parked_events (subject, position);

-- Events whose delivery failed again and again are run alone; a row counts the runs that did not come back, so the one
-- that ends the process is known and its neighbours are not blamed.
CREATE TABLE lone_runs (
    id              uuid PRIMARY KEY,
    runs            integer NOT NULL
);

-- Jobs --------------------------------------------------------------------------------------------------------------
-- Everything slow or external. The unique key makes enqueueing idempotent.

CREATE TABLE jobs (
    id              uuid PRIMARY KEY,
    kind            text COLLATE "C" NOT NULL,
    key             text COLLATE "C" NOT NULL,
    subject         text COLLATE "C",
    payload         text NOT NULL DEFAULT '{}',
    state           text NOT NULL DEFAULT 'queued'
                    CHECK (state IN ('queued', 'running', 'done', 'failed', 'cancelled', 'skipped')),
    due_at          timestamptz NOT NULL,
    attempts        integer NOT NULL DEFAULT 0,
    last_error      text,
    lease_owner     uuid,
    lease_until     timestamptz,
    correlation_id  uuid,
    causation_id    uuid,
    traceparent     text,
    created_at      timestamptz NOT NULL,
    finished_at     timestamptz,
    UNIQUE (kind, key)
) WITH (fillfactor = 70);

CREATE INDEX jobs_due ON jobs (kind, due_at) WHERE state = 'queued';
CREATE INDEX jobs_leased ON jobs (lease_until) WHERE state = 'running';
CREATE INDEX jobs_correlation ON jobs (correlation_id);
CREATE INDEX jobs_finished ON jobs (finished_at) WHERE finished_at IS NOT NULL;

-- Calls to the provider, committed before the call is made ----------------------------------------------------------

CREATE TABLE provider_calls (
    reference       text COLLATE "C" NOT NULL,
    attempt         integer NOT NULL,
    operation       text COLLATE "C" NOT NULL,
    started_at      timestamptz NOT NULL,
    deadline_at     timestamptz NOT NULL,
    ended_at        timestamptz,
    outcome         text,
    correlation_id  uuid,
    PRIMARY KEY (reference, attempt)
) WITH (fillfactor = 85);

-- Idempotency keys of requests --------------------------------------------------------------------------------------

CREATE TABLE idempotency_keys (
    user_id         uuid NOT NULL,
    route           text COLLATE "C" NOT NULL,
    key             text COLLATE "C" NOT NULL,
    request_hash    bytea NOT NULL,
    status          smallint NOT NULL,
    body            text NOT NULL,                       -- the answer, byte for byte
    created_at      timestamptz NOT NULL,
    PRIMARY KEY (user_id, route, key)
);

-- Schedules: each runs on one replica at a time ---------------------------------------------------------------------

CREATE TABLE schedules (
    name            text COLLATE "C" PRIMARY KEY,
    last_run_at     timestamptz NOT NULL DEFAULT '-infinity'
);

-- Partitions --------------------------------------------------------------------------------------------------------

CREATE PROCEDURE ensure_partitions(first_day date, last_day date) LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    d date;
    t text;
BEGIN
    FOR d IN SELECT g::date FROM generate_series(first_day, last_day, interval '1 day') g LOOP
        FOREACH t IN ARRAY ARRAY['outbox', 'inbox'] LOOP
            IF to_regclass(t || to_char(d, '_YYYYMMDD')) IS NULL THEN
                EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)',
                    t || to_char(d, '_YYYYMMDD'), t, d, d + 1);
            END IF;
        END LOOP;
    END LOOP;
END $$;

-- Drops days before `keep_from`; a day of the outbox with unsent rows stays.
CREATE PROCEDURE drop_partitions(keep_from date) LANGUAGE plpgsql
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
        WHERE parent.relname IN ('outbox', 'inbox') AND c.relkind = 'r'
    LOOP
        CONTINUE WHEN p.day >= keep_from;
        unsent := false;
        IF p.parent = 'outbox' THEN
            EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I WHERE sent_at IS NULL)', p.relname) INTO unsent;
        END IF;
        IF NOT unsent THEN EXECUTE format('DROP TABLE %I', p.relname); END IF;
    END LOOP;
END $$;

CREATE FUNCTION oldest_inbox_day() RETURNS date LANGUAGE sql STABLE AS $$
    SELECT min(to_date(right(c.relname, 8), 'YYYYMMDD'))
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'inbox'::regclass
$$;

CALL ensure_partitions((now() AT TIME ZONE 'UTC')::date - 2, (now() AT TIME ZONE 'UTC')::date + 8);

-- Rights ------------------------------------------------------------------------------------------------------------

GRANT USAGE ON SCHEMA public TO ${handler}, ${worker};
GRANT SELECT ON clock_offset TO ${handler}, ${worker};
GRANT UPDATE ON clock_offset TO ${worker};
GRANT SELECT, INSERT, UPDATE ON event_sequences, outbox TO ${handler}, ${worker};
GRANT SELECT, INSERT ON jobs TO ${handler};
GRANT SELECT, INSERT, UPDATE, DELETE ON jobs, inbox, parked_keys, parked_events, lone_runs, schedules TO ${worker};
GRANT SELECT, INSERT, UPDATE ON provider_calls TO ${worker};
GRANT SELECT, INSERT ON idempotency_keys TO ${handler};
GRANT SELECT, INSERT, DELETE ON idempotency_keys TO ${worker};
REVOKE ALL ON PROCEDURE ensure_partitions(date, date), drop_partitions(date) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE ensure_partitions(date, date), drop_partitions(date) TO ${worker};

ALTER TABLE idempotency_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE idempotency_keys FORCE ROW LEVEL SECURITY;
CREATE POLICY own_keys ON idempotency_keys TO ${handler}
    USING (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid)
    WITH CHECK (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_keys ON idempotency_keys TO ${owner}, ${worker} USING (true) WITH CHECK (true);
