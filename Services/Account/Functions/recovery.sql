-- Accounts and payments that the provider has and a restored database has forgotten.

-- Called in the restored database before the service starts, so it records its act by itself. Again soon after it is
-- the same one.
CREATE OR REPLACE FUNCTION begin_recovery(p_restored_to timestamptz, p_actor text, p_reason text) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_now timestamptz;
    v_id uuid;
BEGIN
    PERFORM pg_advisory_xact_lock(6100);
    v_now := transfa_now();
    SELECT r.id INTO v_id FROM recoveries r
    WHERE r.restored_to = p_restored_to AND r.begun_at > v_now - interval '1 hour';
    IF v_id IS NOT NULL THEN RETURN v_id; END IF;
    INSERT INTO recoveries (id, restored_to, begun_at) VALUES (gen_random_uuid(), p_restored_to, v_now)
    RETURNING id INTO v_id;
    UPDATE accounts a SET swept_at = '-infinity' WHERE a.status = 'open';
    PERFORM record_act(p_actor, 'recovery.begun', v_id::text, p_reason, NULL,
        act_json(ARRAY['restored_to'],
            ARRAY[to_char(p_restored_to AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')]),
        NULL, v_now);
    RETURN v_id;
END $$;
