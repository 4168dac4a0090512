-- What operators do: who, what, to what, why, when, before, after, and the request it came with; in every service.
--
-- Rows are appended only, and each carries the hash of the one before it, so that a row that was changed, taken out or put
-- in shows. A chain makes its writers take turns; operators are few, and nothing else writes here.
--
-- transaction made the tables first, in its 0031: therefore this set comes after a service's own, takes what is there, and
-- adds the reason, which transaction's acts had among what they changed. Rows without one keep their hash.

CREATE TABLE IF NOT EXISTS audit_log (
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
ALTER TABLE audit_log ADD COLUMN reason text CHECK (reason <> '');
CREATE INDEX IF NOT EXISTS audit_log_subject ON audit_log (subject, number);

-- The end of the chain: without it rows could be cut off unseen.
CREATE TABLE IF NOT EXISTS audit_head (
    single          boolean PRIMARY KEY DEFAULT true CHECK (single),
    number          bigint NOT NULL,
    hash            bytea NOT NULL
);
INSERT INTO audit_head (number, hash) VALUES (0, decode(repeat('00', 32), 'hex')) ON CONFLICT DO NOTHING;

CREATE FUNCTION refuse_changed_audit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append only', tg_table_name USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE OR REPLACE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_changed_audit();

CREATE OR REPLACE FUNCTION audit_hash(a audit_log) RETURNS bytea LANGUAGE sql STABLE AS $$
    SELECT sha256(a.previous || convert_to(json_build_array(a.number, (extract(epoch FROM a.happened_at) * 1000000)::bigint,
        a.actor, a.act, a.subject, a.before, a.after, a.request_id)::text || coalesce(to_json(a.reason)::text, ''), 'UTF8'))
$$;

-- Writes one act down, in the transaction that does it. Last of all locks: whoever holds it holds up other operators.
CREATE FUNCTION record_act(p_actor text, p_act text, p_subject text, p_reason text, p_before text, p_after text,
    p_request uuid, p_now timestamptz) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    h audit_head;
    a audit_log;
BEGIN
    IF coalesce(p_reason, '') = '' THEN
        RAISE EXCEPTION 'an act needs a reason' USING ERRCODE = 'check_violation';
    END IF;
    SELECT * INTO STRICT h FROM audit_head FOR UPDATE;
    a := ROW(h.number + 1, p_now, p_actor, p_act, p_subject, p_before, p_after, p_request, h.hash, NULL, p_reason)::audit_log;
    a.hash := audit_hash(a);
    INSERT INTO audit_log SELECT a.*;
    UPDATE audit_head SET number = a.number, hash = a.hash;
END $$;

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

REVOKE ALL ON FUNCTION audit_hash(audit_log), check_audit(),
    record_act(text, text, text, text, text, text, uuid, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION check_audit(), record_act(text, text, text, text, text, text, uuid, timestamptz) TO ${worker};
GRANT SELECT ON audit_log, audit_head TO ${worker};
