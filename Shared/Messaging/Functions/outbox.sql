-- What the relay asks for all the time: events that are not sent.
--
-- A day's table is born empty, fills within minutes, and holds few waiting rows among many sent ones. A plan made
-- early, or from statistics taken while nothing waited, reads it whole; it costs milliseconds for each piece of work
-- and grows with the table. So the planner has no choice here: the index on what waits, and the primary key.

-- In the order in which they are to be sent.
CREATE OR REPLACE FUNCTION unsent_events(p_limit bigint)
RETURNS TABLE (day date, id uuid, type text, version smallint, subject text, sequence bigint, correlation_id uuid,
    causation_id uuid, traceparent text, happened_at timestamptz, data text)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_sort = off AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT o.day, o.id, o.type, o.version, o.subject, o.sequence, o.correlation_id, o.causation_id, o.traceparent,
        o.time, o.data
    FROM outbox o WHERE o.sent_at IS NULL ORDER BY o.position LIMIT p_limit;
END $$;

CREATE OR REPLACE FUNCTION mark_sent(p_day date, p_ids uuid[]) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off AS $$
BEGIN
    UPDATE outbox o SET sent_at = clock_timestamp() WHERE o.day = p_day AND o.id = ANY (p_ids);
END $$;
