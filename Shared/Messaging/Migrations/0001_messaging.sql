-- What every service needs to take part: outbox, inbox, parked events, jobs, idempotency keys, schedules, requests,
-- projections, and the audit. Functions are in `Functions/`.
--
-- `outbox` and `inbox` are partitioned by the day inside an event's UUIDv7, never by arrival: the same event is found
-- in the same partition however late it comes, and old days are dropped instead of deleted row by row.

-- Time --------------------------------------------------------------------------------------------------------------
-- The offset moves transfa_now() for tests; only the sandbox profile may set it.

CREATE TABLE clock_offset (
    single  boolean PRIMARY KEY DEFAULT true CHECK (single),
    moved   interval NOT NULL DEFAULT '0'
);
INSERT INTO clock_offset DEFAULT VALUES;

-- Outbox ------------------------------------------------------------------------------------------------------------

-- In the key the id comes first: while the day did, one look-up by day and a filter seemed cheaper than a look-up for
-- each id.
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
    data            text NOT NULL,                       -- JSON of the data alone; the relay adds the envelope
    sent_at         timestamptz,
    PRIMARY KEY (id, day)
) PARTITION BY RANGE (day);

CREATE INDEX outbox_unsent ON outbox (position) WHERE sent_at IS NULL;
CREATE INDEX outbox_correlation ON outbox (correlation_id);
-- What was sent lately is looked for when a queue was gone; rows lie in the order of their time, so a BRIN is enough.
CREATE INDEX outbox_sent ON outbox USING brin (sent_at) WITH (autosummarize = on);

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

-- Tries of parked events that failed: the one that parked it, and every retry. The first and the newest are kept.
CREATE TABLE parked_tries (
    event_id        uuid NOT NULL REFERENCES parked_events (id) ON DELETE CASCADE,
    number          integer NOT NULL,
    tried_at        timestamptz NOT NULL,
    microseconds    bigint,                              -- null: the handler was not run
    error           text NOT NULL,                       -- a code; never text of the data
    PRIMARY KEY (event_id, number)
);

-- An operator's decision to retry a subject. Named by whoever decides, so that a repeated click is the same decision
-- and has the same answer; `applied` is counted in the commit of each event, so it is right also after a crash.
CREATE TABLE parked_retries (
    id              uuid PRIMARY KEY,
    subject         text COLLATE "C" NOT NULL,
    operator        text NOT NULL CHECK (operator <> ''),
    begun_at        timestamptz NOT NULL,
    ended_at        timestamptz,
    applied         integer NOT NULL DEFAULT 0,
    outcome         text CHECK (outcome IN ('applied', 'failed_again', 'nothing_parked', 'cut_off')),
    error           text,
    CHECK ((ended_at IS NULL) = (outcome IS NULL))
);
CREATE UNIQUE INDEX parked_retries_open ON parked_retries (subject) WHERE ended_at IS NULL;
CREATE INDEX parked_retries_ended ON parked_retries (ended_at) WHERE ended_at IS NOT NULL;

-- Events whose delivery failed again and again are run alone; a row counts the runs that did not come back, so the one
-- that ends the process is known and its neighbours are not blamed.
CREATE TABLE lone_runs (
    id              uuid PRIMARY KEY,
    runs            integer NOT NULL
);

-- Jobs --------------------------------------------------------------------------------------------------------------
-- Everything slow or external. The unique key makes enqueueing idempotent.
--
-- Nearly all jobs are done at once, and cost nothing more: `started_at` of the last run is all that is noted of those.
-- Runs that ended otherwise stand in `runs`, the newest twenty.

CREATE TYPE job_run AS (
    attempt integer, started_at timestamptz, ended_at timestamptz, outcome text, error text
);

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
    started_at      timestamptz,
    runs            job_run[],
    UNIQUE (kind, key)
) WITH (fillfactor = 70);

CREATE INDEX jobs_due ON jobs (kind, due_at) WHERE state = 'queued';
CREATE INDEX jobs_leased ON jobs (lease_until) WHERE state = 'running';
CREATE INDEX jobs_correlation ON jobs (correlation_id);
CREATE INDEX jobs_finished ON jobs (finished_at) WHERE finished_at IS NOT NULL;
-- Jobs that wait for somebody to decide: few among very many that are done, and asked for every few seconds.
CREATE INDEX jobs_failed ON jobs (finished_at) WHERE state = 'failed';

CREATE TRIGGER skip_effects BEFORE INSERT ON jobs FOR EACH ROW
    WHEN (current_setting('transfa.effects', true) = 'off') EXECUTE FUNCTION skip_effects();

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
    job_id          uuid,                                -- that made the call, where it says so
    PRIMARY KEY (reference, attempt)
) WITH (fillfactor = 85);
CREATE INDEX provider_calls_correlation ON provider_calls (correlation_id) WHERE correlation_id IS NOT NULL;

-- Idempotency keys of requests --------------------------------------------------------------------------------------

CREATE TABLE idempotency_keys (
    user_id         uuid NOT NULL,
    route           text COLLATE "C" NOT NULL,
    key             text COLLATE "C" NOT NULL,
    request_hash    bytea NOT NULL,
    status          smallint NOT NULL,
    location        text,                                -- of the answer, as its header says
    body            text NOT NULL,                       -- the answer, byte for byte
    created_at      timestamptz NOT NULL,
    PRIMARY KEY (user_id, route, key)
);
-- Old keys are looked for every ten seconds, and so by their age.
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);

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

-- Schedules: each runs on one replica at a time ---------------------------------------------------------------------

CREATE TABLE schedules (
    name            text COLLATE "C" PRIMARY KEY,
    last_run_at     timestamptz NOT NULL DEFAULT '-infinity'
);

-- Replay of handled events ------------------------------------------------------------------------------------------
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

-- Projections -------------------------------------------------------------------------------------------------------
-- A projection is what a service derives from events alone. Each of its rows belongs to a generation: people see the
-- live one, a rebuild fills the next one from the archive beside it, and whatever is heard meanwhile goes into both.

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

-- Which events a generation has, while it is being built. Afterwards only those stay that the service has not heard
-- yet: when it does, they are in there already.
CREATE TABLE projection_events (
    name            text COLLATE "C" NOT NULL,
    generation      smallint NOT NULL,
    event_id        uuid NOT NULL,
    PRIMARY KEY (name, generation, event_id)
);

-- Audit -------------------------------------------------------------------------------------------------------------
-- What operators do: who, what, to what, why, when, before, after, and the request it came with.
--
-- Rows are appended only, and each carries the hash of the one before it, so that a row that was changed, taken out or
-- put in shows. A chain makes its writers take turns; operators are few, and nothing else writes here.

CREATE TABLE audit_log (
    number          bigint PRIMARY KEY,                  -- 1..n without gaps
    happened_at     timestamptz NOT NULL,
    actor           text NOT NULL CHECK (actor <> ''),   -- an operator, or several
    act             text COLLATE "C" NOT NULL,
    subject         text COLLATE "C" NOT NULL,           -- what it was done to
    before          text,                                -- JSON
    after           text,                                -- JSON
    request_id      uuid,
    previous        bytea NOT NULL,                      -- hash of the row before; 32 zero bytes in the first
    hash            bytea NOT NULL,
    reason          text CHECK (reason <> '')
);
CREATE INDEX audit_log_subject ON audit_log (subject, number);

CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_changed_audit();

-- The end of the chain: without it rows could be cut off unseen.
CREATE TABLE audit_head (
    single          boolean PRIMARY KEY DEFAULT true CHECK (single),
    number          bigint NOT NULL,
    hash            bytea NOT NULL
);
INSERT INTO audit_head (number, hash) VALUES (0, decode(repeat('00', 32), 'hex'));

-- Partitions --------------------------------------------------------------------------------------------------------

CALL ensure_partitions((now() AT TIME ZONE 'UTC')::date - 2, (now() AT TIME ZONE 'UTC')::date + 8);

-- Rights ------------------------------------------------------------------------------------------------------------

GRANT USAGE ON SCHEMA public TO ${handler}, ${worker};
GRANT SELECT ON clock_offset TO ${handler}, ${worker};
GRANT UPDATE ON clock_offset TO ${worker};
GRANT SELECT, INSERT, UPDATE ON event_sequences, outbox TO ${handler}, ${worker};
GRANT SELECT, INSERT ON jobs TO ${handler};
GRANT SELECT, INSERT, UPDATE, DELETE ON jobs, inbox, parked_keys, parked_events, lone_runs, schedules TO ${worker};
GRANT SELECT, INSERT, UPDATE, DELETE ON parked_retries TO ${worker};
GRANT SELECT, INSERT, DELETE ON parked_tries TO ${worker};
GRANT SELECT, INSERT, UPDATE ON provider_calls TO ${worker};
GRANT SELECT, INSERT ON idempotency_keys TO ${handler};
GRANT SELECT, INSERT, DELETE ON idempotency_keys TO ${worker};
GRANT SELECT, INSERT ON requests TO ${worker};
GRANT SELECT ON row_changes TO ${worker};
GRANT SELECT ON projections TO ${handler};
GRANT SELECT, UPDATE ON projections TO ${worker};
GRANT SELECT, INSERT, UPDATE ON projection_rebuilds TO ${worker};
GRANT SELECT, INSERT, DELETE ON projection_events TO ${worker};
GRANT SELECT ON audit_log, audit_head TO ${worker};

ALTER TABLE idempotency_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE idempotency_keys FORCE ROW LEVEL SECURITY;
CREATE POLICY own_keys ON idempotency_keys TO ${handler}
    USING (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid)
    WITH CHECK (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_keys ON idempotency_keys TO ${owner}, ${worker} USING (true) WITH CHECK (true);
