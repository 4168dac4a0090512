-- What runners and relay ask for all the time: jobs that are due, events that are not sent.
--
-- These tables are born empty, fill within minutes, and hold few waiting rows among many done ones. A plan made early, or
-- from statistics taken while nothing waited, reads them whole; it costs milliseconds for each piece of work and grows
-- with the table. So the planner has no choice here: the index on what waits, and the primary key.

CREATE FUNCTION lease_jobs(p_kind text, p_owner uuid, p_seconds double precision, p_limit bigint)
RETURNS TABLE (id uuid, key text, subject text, payload text, attempts integer, correlation_id uuid, traceparent text,
    lease_until timestamptz)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_sort = off AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    UPDATE jobs j SET state = 'running', attempts = j.attempts + 1, lease_owner = p_owner,
        lease_until = transfa_now() + p_seconds * interval '1 second'
    WHERE j.id = ANY (ARRAY(
        SELECT x.id FROM jobs x
        WHERE x.kind = p_kind AND x.state = 'queued' AND x.due_at <= (SELECT transfa_now())
        ORDER BY x.due_at LIMIT p_limit FOR UPDATE SKIP LOCKED))
    RETURNING j.id, j.key, j.subject, j.payload, j.attempts, j.correlation_id, j.traceparent, j.lease_until;
END $$;

-- How runs ended; one whose lease has passed to somebody else changes nothing. A pause is in milliseconds. Only a running
-- job has an owner; to ask for its state too would bring back the index on running jobs, read whole.
CREATE FUNCTION end_runs(p_owner uuid, p_ids uuid[], p_attempts bigint[], p_states text[], p_reasons text[],
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
        lease_owner = NULL, lease_until = NULL
    FROM unnest(p_ids, p_attempts, p_states, p_reasons, p_pauses) AS r(id, attempt, state, reason, pause)
    WHERE j.id = r.id AND j.lease_owner = p_owner AND j.attempts = r.attempt;
END $$;

-- In the order in which they are to be sent.
CREATE FUNCTION unsent_events(p_limit bigint)
RETURNS TABLE (day date, id uuid, type text, version smallint, subject text, sequence bigint, correlation_id uuid,
    causation_id uuid, traceparent text, happened_at timestamptz, data text)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_sort = off AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT o.day, o.id, o.type, o.version, o.subject, o.sequence, o.correlation_id, o.causation_id, o.traceparent, o.time,
        o.data
    FROM outbox o WHERE o.sent_at IS NULL ORDER BY o.position LIMIT p_limit;
END $$;

-- The id first: while the day came first, one look-up by day and a filter seemed cheaper than a look-up for each id.
ALTER TABLE outbox DROP CONSTRAINT outbox_pkey;
ALTER TABLE outbox ADD PRIMARY KEY (id, day);

CREATE FUNCTION mark_sent(p_day date, p_ids uuid[]) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off AS $$
BEGIN
    UPDATE outbox o SET sent_at = clock_timestamp() WHERE o.day = p_day AND o.id = ANY (p_ids);
END $$;
