-- What people need who repair: each try of a parked event, each decision to try again, and how the runs of a job ended.

-- Tries of parked events that failed: the one that parked it, and every retry. The first and the newest are kept.
CREATE TABLE parked_tries (
    event_id        uuid NOT NULL REFERENCES parked_events (id) ON DELETE CASCADE,
    number          integer NOT NULL,
    tried_at        timestamptz NOT NULL,
    microseconds    bigint,                              -- null: the handler was not run
    error           text NOT NULL,                       -- a code; never text of the data
    PRIMARY KEY (event_id, number)
);

-- One more try, by an operator.
CREATE FUNCTION note_try(p_event uuid, p_tried_at timestamptz, p_microseconds bigint, p_error text) RETURNS void
LANGUAGE sql AS $$
    INSERT INTO parked_tries (event_id, number, tried_at, microseconds, error)
    SELECT e.id, 1 + coalesce((SELECT max(t.number) FROM parked_tries t WHERE t.event_id = e.id), 0), p_tried_at,
        p_microseconds, p_error
    FROM parked_events e WHERE e.id = p_event;
    DELETE FROM parked_tries t WHERE t.event_id = p_event AND t.number > 1
        AND t.number <= (SELECT max(n.number) FROM parked_tries n WHERE n.event_id = p_event) - 49;
$$;

-- An operator's decision to retry a subject. Named by whoever decides, so that a repeated click is the same decision and
-- has the same answer; `applied` is counted in the commit of each event, so it is right also after a crash.
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

GRANT SELECT, INSERT, UPDATE, DELETE ON parked_retries TO ${worker};
GRANT SELECT, INSERT, DELETE ON parked_tries TO ${worker};

-- Runs of a job ------------------------------------------------------------------------------------------------------
-- Nearly all jobs are done at once, and cost nothing more: `started_at` of the last run is all that is noted of those.
-- Runs that ended otherwise stand in `runs`, the newest twenty.

ALTER TABLE jobs ADD COLUMN started_at timestamptz, ADD COLUMN runs jsonb;

CREATE FUNCTION with_run(p_runs jsonb, p_attempt integer, p_started timestamptz, p_ended timestamptz, p_outcome text,
    p_error text) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN jsonb_array_length(p_runs) >= 20 THEN p_runs - 0 ELSE coalesce(p_runs, '[]') END
        || jsonb_build_object('attempt', p_attempt, 'started_at', p_started, 'ended_at', p_ended, 'outcome', p_outcome,
            'error', p_error)
$$;

-- As in 0004, with the start.
CREATE OR REPLACE FUNCTION lease_jobs(p_kind text, p_owner uuid, p_seconds double precision, p_limit bigint)
RETURNS TABLE (id uuid, key text, subject text, payload text, attempts integer, correlation_id uuid, traceparent text,
    lease_until timestamptz)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_sort = off AS $$
#variable_conflict use_column
DECLARE
    v_now constant timestamptz := transfa_now();
BEGIN
    RETURN QUERY
    UPDATE jobs j SET state = 'running', attempts = j.attempts + 1, lease_owner = p_owner, started_at = v_now,
        lease_until = v_now + p_seconds * interval '1 second'
    WHERE j.id = ANY (ARRAY(
        SELECT x.id FROM jobs x
        WHERE x.kind = p_kind AND x.state = 'queued' AND x.due_at <= v_now
        ORDER BY x.due_at LIMIT p_limit FOR UPDATE SKIP LOCKED))
    RETURNING j.id, j.key, j.subject, j.payload, j.attempts, j.correlation_id, j.traceparent, j.lease_until;
END $$;

-- As in 0004, with the run when it was not the last one.
CREATE OR REPLACE FUNCTION end_runs(p_owner uuid, p_ids uuid[], p_attempts bigint[], p_states text[], p_reasons text[],
    p_pauses bigint[]) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off AS $$
BEGIN
    UPDATE jobs j SET state = r.state, last_error = r.reason,
        due_at = CASE WHEN r.state = 'queued' THEN transfa_now() + r.pause * interval '1 millisecond' ELSE j.due_at END,
        finished_at = CASE WHEN r.state = 'queued' THEN NULL ELSE transfa_now() END,
        runs = CASE WHEN r.state = 'done' THEN j.runs ELSE with_run(j.runs, j.attempts, j.started_at, transfa_now(),
            CASE r.state WHEN 'queued' THEN 'again' ELSE r.state END, r.reason) END,
        lease_owner = NULL, lease_until = NULL
    FROM unnest(p_ids, p_attempts, p_states, p_reasons, p_pauses) AS r(id, attempt, state, reason, pause)
    WHERE j.id = r.id AND j.lease_owner = p_owner AND j.attempts = r.attempt;
END $$;
