-- One question for all runners of a service: which kinds have something due? By the index on what waits, as in 0004.
CREATE FUNCTION kinds_due(p_kinds text[]) RETURNS SETOF text LANGUAGE plpgsql STABLE
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
