-- The audit has a reason of its own: what operators do about money hands over the one that they gave.
--
-- The function with the reason is in the audit's own migrations, which every service has and which come after these.

CREATE OR REPLACE FUNCTION record_act(p_actor text, p_act text, p_subject text, p_before text, p_after text,
    p_request uuid, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM record_act(p_actor, p_act, p_subject, p_after::json ->> 'reason', p_before, p_after, p_request, p_now);
END $$;

-- Who decides about a release decides about its reason. The text of 0032 with what is added here, or this file fails.
DO $patch$
DECLARE
    v_found constant text := 'json_build_object(''release'', p_id, ''state'', v_state, ''disposition'', r.disposition,';
    v_text constant text := pg_get_functiondef('decide_release'::regproc);
BEGIN
    IF cardinality(string_to_array(v_text, v_found)) <> 2 THEN
        RAISE EXCEPTION 'decide_release does not hold this once: %', v_found;
    END IF;
    EXECUTE replace(v_text, v_found, v_found || ' ''reason'', r.reason,');
END $patch$;
