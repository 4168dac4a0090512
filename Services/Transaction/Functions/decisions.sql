-- Two people decide how a transfer ended whose outcome nobody can know.

-- Why an outcome cannot be decided by people now; null: it can. A reversal is of money that the provider has moved, and
-- that operators do not give, and have not given, out of suspense; what they have given back is no longer theirs.
CREATE OR REPLACE FUNCTION decision_refusal(t transfers, p_outcome text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN p_outcome IN ('completed', 'failed') AND (t).state <> 'unknown' THEN 'not_unknown'
        WHEN p_outcome = 'reversed' AND ((t).state <> 'completed' OR (t).submitted_at IS NULL) THEN 'not_reversible'
        WHEN p_outcome = 'reversed' AND suspense_move(t) = 'break' THEN 'not_reversible' END
$$;

-- Whether an order may still arrive at the provider whose end the proposal could not know: one that was begun since, or
-- one that may be on its way.
CREATE OR REPLACE FUNCTION order_under_way(t transfers, p_since timestamptz, p_now timestamptz) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT 1 FROM provider_calls c WHERE c.reference = (t).reference
        AND (c.started_at > p_since OR may_arrive(c, p_now)))
$$;

-- What nobody approved in time counts no more. The transfer must be locked.
CREATE OR REPLACE FUNCTION expire_proposals(p_transfer uuid, p_now timestamptz) RETURNS void LANGUAGE sql AS $$
    UPDATE transfer_proposals x SET state = 'expired', decided_at = p_now
    WHERE x.transfer_id = p_transfer AND x.state = 'open' AND x.expires_at <= p_now
$$;

-- 'open' and what the transfer is like, or why not.
CREATE OR REPLACE FUNCTION propose_outcome(p_id uuid, p_transfer uuid, p_outcome text, p_reason text,
    p_operator text, p_valid interval, p_now timestamptz DEFAULT NULL,
    OUT result text, OUT state text, OUT amount bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_now timestamptz;
    t transfers;
BEGIN
    SELECT * INTO t FROM transfers x WHERE x.id = p_transfer FOR NO KEY UPDATE;
    IF t.id IS NULL THEN
        result := 'missing';
        RETURN;
    END IF;
    v_now := coalesce(p_now, transfa_now());
    PERFORM expire_proposals(t.id, v_now);
    result := decision_refusal(t, p_outcome);
    IF result IS NOT NULL THEN RETURN; END IF;
    IF EXISTS (SELECT 1 FROM transfer_proposals x WHERE x.transfer_id = t.id AND x.state = 'open') THEN
        result := 'already_proposed';
        RETURN;
    END IF;
    INSERT INTO transfer_proposals (id, transfer_id, outcome, reason, proposed_by, proposed_at, expires_at)
    VALUES (p_id, t.id, p_outcome, p_reason, p_operator, v_now, v_now + p_valid);
    SELECT 'open', t.state, t.amount INTO result, state, amount;
END $$;

-- 'approved' and what was proposed, or why not. A transfer that has ended meanwhile, or a proposal that is too old,
-- takes nothing back and closes the proposal, which is an act too. So does, where the transfer is said to have failed,
-- an order that may still arrive: a transfer stays unknown while its order is sent again, and what is given back must
-- not leave all the same. Locks in the one global order: settle_payments() takes all others after the transfer.
CREATE OR REPLACE FUNCTION approve_outcome(p_id uuid, p_operator text, p_event uuid, p_now timestamptz DEFAULT NULL,
    OUT result text, OUT transfer_id uuid, OUT outcome text, OUT proposed_by text, OUT reason text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_now timestamptz;
    v_settled text;
    t transfers;
    p transfer_proposals;
BEGIN
    SELECT * INTO p FROM transfer_proposals x WHERE x.id = p_id;
    IF p.id IS NULL THEN
        result := 'missing';
        RETURN;
    END IF;
    SELECT * INTO STRICT t FROM transfers x WHERE x.id = p.transfer_id FOR NO KEY UPDATE;
    SELECT * INTO STRICT p FROM transfer_proposals x WHERE x.id = p_id;         -- again, now that nobody else decides
    result := CASE WHEN p.state <> 'open' THEN 'decided' WHEN p.proposed_by = p_operator THEN 'same_operator'
        WHEN recovery_is_open() THEN 'recovering' END;
    IF result IS NOT NULL THEN RETURN; END IF;
    v_now := coalesce(p_now, transfa_now());
    result := CASE
        WHEN p.expires_at <= v_now THEN 'expired'
        WHEN decision_refusal(t, p.outcome) IS NOT NULL THEN 'overtaken'
        WHEN p.outcome = 'failed' AND order_under_way(t, p.proposed_at, v_now) THEN 'overtaken' ELSE 'approved' END;
    UPDATE transfer_proposals x SET state = result, decided_by = p_operator, decided_at = v_now WHERE x.id = p_id;
    IF result = 'approved' THEN
        v_settled := (SELECT s.result FROM settle_payments(
            ARRAY[t.id], ARRAY[p.outcome], ARRAY['resolved_by_operators'],
            ARRAY['proposal:' || p.id], ARRAY[NULL::text], ARRAY[p_event], ARRAY[NULL::uuid],
            'operators ' || p.proposed_by || ' and ' || p_operator, v_now) s);
        IF v_settled IS DISTINCT FROM p.outcome THEN
            RAISE EXCEPTION 'decision_not_settled: %', v_settled USING ERRCODE = 'data_exception';
        END IF;
    END IF;
    SELECT t.id, p.outcome, p.proposed_by, p.reason INTO transfer_id, outcome, proposed_by, reason;
END $$;

-- 'withdrawn' and what was proposed, or why not; by whoever proposed it, or by another who disagrees.
CREATE OR REPLACE FUNCTION withdraw_outcome(p_id uuid, p_operator text, p_now timestamptz DEFAULT NULL, OUT result text,
    OUT transfer_id uuid, OUT outcome text, OUT proposed_by text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_now timestamptz;
    p transfer_proposals;
BEGIN
    SELECT * INTO p FROM transfer_proposals x WHERE x.id = p_id;
    IF p.id IS NULL THEN
        result := 'missing';
        RETURN;
    END IF;
    PERFORM 1 FROM transfers x WHERE x.id = p.transfer_id FOR NO KEY UPDATE;
    SELECT * INTO STRICT p FROM transfer_proposals x WHERE x.id = p_id;
    IF p.state <> 'open' THEN
        result := 'decided';
        RETURN;
    END IF;
    v_now := coalesce(p_now, transfa_now());
    result := 'withdrawn';
    UPDATE transfer_proposals x SET state = result, decided_by = p_operator, decided_at = v_now WHERE x.id = p_id;
    SELECT p.transfer_id, p.outcome, p.proposed_by INTO transfer_id, outcome, proposed_by;
END $$;
