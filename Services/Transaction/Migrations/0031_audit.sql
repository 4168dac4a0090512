-- What operators do about money: who, what, when, before, after, and the request it came with.
--
-- Rows are appended only and each carries the hash of the one before it, so that a row that was changed, taken out or put
-- in shows. A chain makes its writers take turns; operators are few, and payments do not write here.

CREATE TABLE audit_log (
    number          bigint PRIMARY KEY,                  -- 1..n without gaps
    happened_at     timestamptz NOT NULL,
    actor           text NOT NULL CHECK (actor <> ''),   -- an operator, or several
    act             text COLLATE "C" NOT NULL,
    subject         text COLLATE "C" NOT NULL,           -- what it was done to
    before          text,                                -- JSON
    after           text,                                -- JSON
    request_id      uuid,
    previous        bytea NOT NULL,                      -- hash of the row before; 32 zero bytes in the first
    hash            bytea NOT NULL
);
CREATE INDEX audit_log_subject ON audit_log (subject, number);

-- The end of the chain: without it rows could be cut off unseen.
CREATE TABLE audit_head (
    single          boolean PRIMARY KEY DEFAULT true CHECK (single),
    number          bigint NOT NULL,
    hash            bytea NOT NULL
);
INSERT INTO audit_head (number, hash) VALUES (0, decode(repeat('00', 32), 'hex'));

CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();

CREATE FUNCTION audit_hash(a audit_log) RETURNS bytea LANGUAGE sql STABLE AS $$
    SELECT sha256(a.previous || convert_to(json_build_array(a.number, (extract(epoch FROM a.happened_at) * 1000000)::bigint,
        a.actor, a.act, a.subject, a.before, a.after, a.request_id)::text, 'UTF8'))
$$;

-- Writes one act down, in the transaction that does it. Last of all locks: whoever holds it holds up other operators.
CREATE FUNCTION record_act(p_actor text, p_act text, p_subject text, p_before text, p_after text, p_request uuid,
    p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    h audit_head;
    a audit_log;
BEGIN
    SELECT * INTO STRICT h FROM audit_head FOR UPDATE;
    a := ROW(h.number + 1, p_now, p_actor, p_act, p_subject, p_before, p_after, p_request, h.hash, NULL)::audit_log;
    a.hash := audit_hash(a);
    INSERT INTO audit_log SELECT a.*;
    UPDATE audit_head SET number = a.number, hash = a.hash;
END $$;

-- What is wrong with the chain; empty when it is whole.
CREATE FUNCTION check_audit() RETURNS TABLE (name text, detail text)
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

-- The checks so far keep their text under another name, so that others can be put beside them.
ALTER FUNCTION check_invariants() RENAME TO check_books;
CREATE FUNCTION check_invariants() RETURNS TABLE (name text, detail text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp SET jit = off AS $$
    SELECT * FROM check_books() UNION ALL SELECT * FROM check_audit()
$$;

-- Two people end an unknown transfer, with a reason that stays in its history and in the audit.
CREATE OR REPLACE FUNCTION resolve_unknown(p_transaction uuid, p_outcome text, p_first_operator text, p_second_operator text,
    p_reason text, p_event uuid, p_now timestamptz DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_state text;
    v_result text;
BEGIN
    IF coalesce(p_first_operator, '') = '' OR coalesce(p_second_operator, '') = '' OR coalesce(p_reason, '') = ''
       OR p_first_operator = p_second_operator OR p_outcome NOT IN ('completed', 'failed') THEN
        RAISE EXCEPTION 'two different operators, an outcome and a reason are needed' USING ERRCODE = 'check_violation';
    END IF;
    SELECT t.state INTO v_state FROM transactions t WHERE t.id = p_transaction FOR NO KEY UPDATE;
    IF v_state IS NULL THEN RETURN 'missing'; END IF;
    IF v_state <> 'unknown' THEN RETURN 'ignored'; END IF;
    v_result := (SELECT s.result FROM settle_payments(ARRAY[p_transaction], ARRAY[p_outcome],
        ARRAY['resolved by operators'], ARRAY[p_reason], ARRAY[NULL::text], ARRAY[p_event], ARRAY[NULL::uuid],
        'operators ' || p_first_operator || ' and ' || p_second_operator, p_now) s);
    PERFORM record_act(p_first_operator || ' and ' || p_second_operator, 'transfer.resolved', p_transaction::text,
        json_build_object('state', v_state)::text, json_build_object('state', v_result, 'reason', p_reason)::text, NULL,
        coalesce(p_now, transfa_now()));
    RETURN v_result;
END $$;

REVOKE ALL ON FUNCTION record_act(text, text, text, text, text, uuid, timestamptz), audit_hash(audit_log) FROM PUBLIC;
GRANT SELECT ON audit_log TO ${worker};
