-- What a trace begins with, what calls belong to, and projections that can be made again from the archive.

-- Requests ----------------------------------------------------------------------------------------------------------
-- One row per request that may change something, written in groups after the answers: a trace must show what it began
-- with, a refused one too, and nobody waits for it. A crash loses those of the last moment.

CREATE TABLE requests (
    day             date NOT NULL,
    id              uuid NOT NULL,                       -- not unique: clients may name their requests
    method          text COLLATE "C" NOT NULL,
    route           text COLLATE "C" NOT NULL,
    status          smallint NOT NULL,
    started_at      timestamptz NOT NULL,
    microseconds    bigint NOT NULL,
    traceparent     text
) PARTITION BY RANGE (day);
CREATE INDEX requests_id ON requests (id);

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

CALL ensure_partitions((now() AT TIME ZONE 'UTC')::date - 2, (now() AT TIME ZONE 'UTC')::date + 8);
GRANT SELECT, INSERT ON requests TO ${worker};

-- Calls to the provider ---------------------------------------------------------------------------------------------

ALTER TABLE provider_calls ADD COLUMN job_id uuid;       -- that made the call, where it says so
CREATE INDEX provider_calls_correlation ON provider_calls (correlation_id) WHERE correlation_id IS NOT NULL;

-- Projections -------------------------------------------------------------------------------------------------------
-- A projection is what a service derives from events alone. Each of its rows belongs to a generation: people see the live
-- one, a rebuild fills the next one from the archive beside it, and whatever is heard meanwhile goes into both.

CREATE TABLE projections (
    name            text COLLATE "C" PRIMARY KEY,
    live            smallint NOT NULL DEFAULT 1,
    building        smallint CHECK (building <> live),
    since           timestamptz NOT NULL                 -- no event before this moment is in the live generation
);

CREATE TABLE projection_rebuilds (
    name            text COLLATE "C" NOT NULL REFERENCES projections,
    generation      smallint NOT NULL,
    replaces        smallint NOT NULL,
    replay_id       uuid NOT NULL,                       -- of console, which sends the events
    state           text NOT NULL CHECK (state IN ('building', 'live', 'cancelled')),
    applied         bigint NOT NULL DEFAULT 0,           -- events
    known           bigint NOT NULL DEFAULT 0,           -- events that were sent and are in it already, or wait parked
    first_event_at  timestamptz,
    rows_changed    bigint,                              -- rows that differ from the generation it replaced
    ordered_by      text NOT NULL,
    order_reason    text NOT NULL,
    started_at      timestamptz NOT NULL,
    finished_at     timestamptz,
    PRIMARY KEY (name, generation)
);

-- Which events a generation has, while it is being built. Afterwards only those stay that the service has not heard yet:
-- when it does, they are in there already.
CREATE TABLE projection_events (
    name            text COLLATE "C" NOT NULL,
    generation      smallint NOT NULL,
    event_id        uuid NOT NULL,
    PRIMARY KEY (name, generation, event_id)
);

-- Says in which generations an event that was heard takes effect, for the statements that follow in the transaction. The row
-- stays shared until the commit: no generation begins or ends under an event.
CREATE FUNCTION aim_projection(p_name text, p_event uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    p projections;
    generations text := '';
BEGIN
    SELECT * INTO STRICT p FROM projections WHERE name = p_name FOR SHARE;
    DELETE FROM projection_events WHERE name = p_name AND generation = p.live AND event_id = p_event;
    IF NOT FOUND THEN generations := p.live::text; END IF;
    IF p.building IS NOT NULL THEN
        INSERT INTO projection_events VALUES (p_name, p.building, p_event) ON CONFLICT DO NOTHING;
        IF FOUND THEN generations := concat_ws(',', nullif(generations, ''), p.building); END IF;
    END IF;
    PERFORM set_config('transfa.generations', generations, true);
END $$;

-- The same for what is no event, such as something that a person or a job adds: it takes effect everywhere.
CREATE FUNCTION aim_projection(p_name text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    p projections;
BEGIN
    SELECT * INTO STRICT p FROM projections WHERE name = p_name FOR SHARE;
    PERFORM set_config('transfa.generations', concat_ws(',', p.live, p.building), true);
END $$;

CREATE FUNCTION aimed_generations() RETURNS SETOF smallint LANGUAGE sql STABLE ROWS 2 AS $$
    SELECT unnest(string_to_array(nullif(current_setting('transfa.generations', true), ''), ',')::smallint[])
$$;

GRANT SELECT ON projections TO ${handler};
GRANT SELECT, UPDATE ON projections TO ${worker};
GRANT SELECT, INSERT, UPDATE ON projection_rebuilds TO ${worker};
GRANT SELECT, INSERT, DELETE ON projection_events TO ${worker};

-- Which of these events wait parked, or were discarded: a retry applies them, or nobody. As with known_events(), the planner
-- must not choose.
CREATE FUNCTION put_aside(ids uuid[]) RETURNS SETOF uuid LANGUAGE plpgsql STABLE
SET enable_seqscan = off AS $$
DECLARE
    first_day date;
    last_day date;
BEGIN
    SELECT min(uuid_v7_day(u.id)), max(uuid_v7_day(u.id)) INTO first_day, last_day FROM unnest(ids) AS u(id);
    RETURN QUERY SELECT u.id FROM unnest(ids) AS u(id)
    WHERE EXISTS (
        SELECT 1 FROM inbox i WHERE i.day = uuid_v7_day(u.id) AND i.id = u.id AND i.day BETWEEN first_day AND last_day
            AND i.outcome <> 'handled' OFFSET 0
    ) OR EXISTS (SELECT 1 FROM parked_events p WHERE p.id = u.id OFFSET 0);
END $$;
