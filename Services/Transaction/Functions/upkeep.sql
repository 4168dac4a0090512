-- What keeps the rest going.

-- A source has told all that it knew at a moment of its own clock. By ours that is its moment and what its clock is
-- behind, but never later than now. How far it is behind is learnt, not believed: from five minutes in which beats were
-- all about as old when they were heard. Beats that wait in a queue are not, their age grows or shrinks: a backlog
-- never looks fresh, and a clock that is wrong by any amount silences its source for minutes, not for ever.
CREATE OR REPLACE FUNCTION beat(p_source text, p_at timestamptz, p_now timestamptz DEFAULT NULL) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_now constant timestamptz := coalesce(p_now, transfa_now());
    v_age constant interval := v_now - p_at;
    h source_heartbeats;
BEGIN
    SELECT * INTO h FROM source_heartbeats x WHERE x.source = p_source FOR NO KEY UPDATE;
    IF v_now >= h.watched_from + interval '5 minutes' THEN
        IF h.beats >= 10 AND h.oldest - h.youngest <= interval '10 seconds' THEN h.behind := h.youngest; END IF;
        h.watched_from := v_now; h.beats := 0; h.youngest := v_age; h.oldest := v_age;
    END IF;
    UPDATE source_heartbeats x SET beat_at = greatest(x.beat_at, least(p_at + h.behind, v_now)), behind = h.behind,
        watched_from = h.watched_from, beats = h.beats + 1, youngest = least(h.youngest, v_age),
        oldest = greatest(h.oldest, v_age)
    WHERE x.source = p_source;
END $$;

-- Asked for each transfer of a batch before it is submitted. In SQL this body cannot be inlined, and a function in SQL
-- that is not inlined is parsed and planned for every call; PL/pgSQL keeps the plan.
CREATE OR REPLACE FUNCTION read_model_is_fresh(p_now timestamptz) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (SELECT count(*) = 3 FROM source_heartbeats
        WHERE source IN ('auth', 'customer', 'subscription') AND beat_at >= p_now - interval '30 seconds');
END $$;

-- Old refusals and nonces. An approval lives two minutes, so nonces may go after a day; so may what counts for a day.
CREATE OR REPLACE FUNCTION prune_orders(p_refused_before timestamptz, p_nonces_before timestamptz, p_limit integer)
RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_refused integer;
    v_nonces integer;
    v_rooms integer;
BEGIN
    DELETE FROM refused_orders k WHERE k.ctid IN (
        SELECT x.ctid FROM refused_orders x WHERE x.created_at < p_refused_before LIMIT p_limit FOR UPDATE SKIP LOCKED);
    GET DIAGNOSTICS v_refused = ROW_COUNT;
    DELETE FROM approval_nonces a WHERE a.ctid IN (
        SELECT x.ctid FROM approval_nonces x WHERE x.used_at < p_nonces_before LIMIT p_limit FOR UPDATE SKIP LOCKED);
    GET DIAGNOSTICS v_nonces = ROW_COUNT;
    DELETE FROM room_refusals r WHERE r.ctid IN (
        SELECT x.ctid FROM room_refusals x WHERE x.day < lagos_day(p_nonces_before) LIMIT p_limit
        FOR UPDATE SKIP LOCKED);
    GET DIAGNOSTICS v_rooms = ROW_COUNT;
    RETURN v_refused + v_nonces + v_rooms;
END $$;
