-- What runners ask for all the time: jobs that are due. As in outbox.sql, the planner has no choice: the index on what
-- waits, and the primary key.

-- One question for all runners of a service: which kinds have something due?
CREATE OR REPLACE FUNCTION kinds_due(p_kinds text[]) RETURNS SETOF text LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off AS $$
DECLARE
    v_now constant timestamptz := transfa_now();
BEGIN
    RETURN QUERY SELECT k FROM unnest(p_kinds) AS k
    WHERE EXISTS (SELECT FROM jobs j WHERE j.kind = k AND j.state = 'queued' AND j.due_at <= v_now);
END $$;

-- Takes jobs that are due, the longest due first.
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

-- How runs ended, with the run when it was not the last one; one whose lease has passed to somebody else changes
-- nothing. A pause is in milliseconds. Only a running job has an owner; to ask for its state too would bring back the
-- index on running jobs, read whole.
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

-- The runs of a job and one more; the newest twenty are kept.
CREATE OR REPLACE FUNCTION with_run(p_runs job_run[], p_attempt integer, p_started timestamptz, p_ended timestamptz,
    p_outcome text, p_error text) RETURNS job_run[] LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN cardinality(p_runs) >= 20 THEN p_runs[2:] ELSE coalesce(p_runs, '{}') END
        || ROW(p_attempt, p_started, p_ended, p_outcome, p_error)::job_run
$$;
