-- What operators do: the acts are a chain of hashes.

-- The hash of a row takes in that of the row before it, and its reason where there is one. JSON is only how the members
-- become one text that no other act has; nobody reads it.
CREATE OR REPLACE FUNCTION audit_hash(a audit_log) RETURNS bytea LANGUAGE sql STABLE AS $$
    SELECT sha256(a.previous || convert_to(
        json_build_array(a.number, (extract(epoch FROM a.happened_at) * 1000000)::bigint, a.actor, a.act, a.subject,
            a.before, a.after, a.request_id)::text || coalesce(to_json(a.reason)::text, ''), 'UTF8'))
$$;

-- Writes one act down, in the transaction that does it. Last of all locks: whoever holds it holds up other operators.
--
-- Swift calls it, for functions too that act for an operator: they return what the act was about, and nothing where
-- nothing was done.
CREATE OR REPLACE FUNCTION record_act(p_actor text, p_act text, p_subject text, p_reason text, p_before text,
    p_after text, p_request uuid, p_now timestamptz) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    h audit_head;
    a audit_log;
BEGIN
    IF coalesce(p_reason, '') = '' THEN
        RAISE EXCEPTION 'reason_missing' USING ERRCODE = 'check_violation';
    END IF;
    SELECT * INTO STRICT h FROM audit_head FOR UPDATE;
    a := ROW(h.number + 1, p_now, p_actor, p_act, p_subject, p_before, p_after, p_request, h.hash, NULL,
        p_reason)::audit_log;
    a.hash := audit_hash(a);
    INSERT INTO audit_log SELECT a.*;
    UPDATE audit_head SET number = a.number, hash = a.hash;
END $$;

-- What an act was about, where SQL records it: what a restore does before any service runs. All else Swift writes.
CREATE OR REPLACE FUNCTION act_json(p_names text[], p_values text[]) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT json_object(p_names, p_values)::text
$$;

-- What is wrong with the chain; empty when it is whole. I26 is its number among the invariants of transaction.
CREATE OR REPLACE FUNCTION check_audit() RETURNS TABLE (name text, detail text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT 'I26 an act is what its hash says', '#' || a.number FROM audit_log a WHERE a.hash <> audit_hash(a)
    UNION ALL SELECT 'I26 acts are a chain without gaps', '#' || x.number
        FROM (SELECT a.number, a.previous, row_number() OVER w AS nth,
                  coalesce(lag(a.hash) OVER w, decode(repeat('00', 32), 'hex')) AS before
              FROM audit_log a WINDOW w AS (ORDER BY a.number)) x
        WHERE x.number <> x.nth OR x.previous <> x.before
    UNION ALL SELECT 'I26 the chain ends where it did', '#' || h.number
        FROM audit_head h LEFT JOIN audit_log a ON a.number = (SELECT max(b.number) FROM audit_log b)
        WHERE h.number <> coalesce(a.number, 0) OR h.hash <> coalesce(a.hash, decode(repeat('00', 32), 'hex'))
$$;
