-- Asked for each transfer of a batch before it is submitted. In SQL this body cannot be inlined, and a function in SQL
-- that is not inlined is parsed and planned for every call; PL/pgSQL keeps the plan.
CREATE OR REPLACE FUNCTION read_model_is_fresh(p_now timestamptz) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (SELECT count(*) = 3 FROM source_heartbeats
        WHERE source IN ('auth', 'customer', 'subscription') AND beat_at >= p_now - interval '30 seconds');
END $$;
