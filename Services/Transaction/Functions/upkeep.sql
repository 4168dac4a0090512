-- What keeps the rest going.

CREATE OR REPLACE FUNCTION beat(p_source text, p_at timestamptz) RETURNS void LANGUAGE sql AS $$
    INSERT INTO source_heartbeats (source, beat_at) VALUES (p_source, p_at)
    ON CONFLICT (source) DO UPDATE SET beat_at = excluded.beat_at WHERE source_heartbeats.beat_at < excluded.beat_at
$$;

-- Asked for each transfer of a batch before it is submitted. In SQL this body cannot be inlined, and a function in SQL
-- that is not inlined is parsed and planned for every call; PL/pgSQL keeps the plan.
CREATE OR REPLACE FUNCTION read_model_is_fresh(p_now timestamptz) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (SELECT count(*) = 3 FROM source_heartbeats
        WHERE source IN ('auth', 'customer', 'subscription') AND beat_at >= p_now - interval '30 seconds');
END $$;

-- Old refusals and nonces. An approval lives two minutes, so nonces may go after a day.
CREATE OR REPLACE FUNCTION prune_orders(p_refused_before timestamptz, p_nonces_before timestamptz, p_limit integer)
RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_refused integer;
    v_nonces integer;
BEGIN
    DELETE FROM refused_orders k WHERE k.ctid IN (
        SELECT x.ctid FROM refused_orders x WHERE x.created_at < p_refused_before LIMIT p_limit FOR UPDATE SKIP LOCKED);
    GET DIAGNOSTICS v_refused = ROW_COUNT;
    DELETE FROM approval_nonces a WHERE a.ctid IN (
        SELECT x.ctid FROM approval_nonces x WHERE x.used_at < p_nonces_before LIMIT p_limit FOR UPDATE SKIP LOCKED);
    GET DIAGNOSTICS v_nonces = ROW_COUNT;
    RETURN v_refused + v_nonces;
END $$;
