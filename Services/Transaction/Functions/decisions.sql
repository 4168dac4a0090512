-- Two people decide how a transfer ended whose outcome nobody can know.

-- Why an outcome cannot be decided by people now; null: it can. A reversal is of money that the provider has moved, and
-- that operators have not already given back out of suspense.
CREATE OR REPLACE FUNCTION decision_bar(t transactions, p_outcome text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN p_outcome IN ('completed', 'failed') AND (t).state <> 'unknown' THEN 'not_unknown'
        WHEN p_outcome = 'reversed' AND ((t).state <> 'completed' OR (t).submitted_at IS NULL) THEN 'not_reversible'
        WHEN p_outcome = 'reversed' AND (t).route_reason = 'returned' THEN 'not_reversible' END
$$;

-- Whether an order may still arrive at the provider whose end the proposal could not know: one that was begun since, or
-- one that has no end and may be on its way for as long as record_absence() reckons with.
CREATE OR REPLACE FUNCTION order_under_way(t transactions, p_since timestamptz, p_now timestamptz) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT 1 FROM provider_calls c WHERE c.reference = (t).reference
        AND (c.started_at > p_since OR c.ended_at IS NULL AND c.deadline_at + interval '2 minutes' > p_now))
$$;

CREATE OR REPLACE FUNCTION proposal_json(p transfer_proposals) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT json_build_object('proposal', (p).id, 'outcome', (p).outcome, 'state', (p).state,
        'proposed_by', (p).proposed_by)::text
$$;

-- What nobody approved in time counts no more. The transfer must be locked.
CREATE OR REPLACE FUNCTION expire_proposals(p_transaction uuid, p_now timestamptz) RETURNS void LANGUAGE sql AS $$
    UPDATE transfer_proposals x SET state = 'expired', decided_at = p_now
    WHERE x.transaction_id = p_transaction AND x.state = 'open' AND x.expires_at <= p_now
$$;

-- 'open', or why not.
CREATE OR REPLACE FUNCTION propose_outcome(p_id uuid, p_transaction uuid, p_outcome text, p_reason text,
    p_operator text, p_valid interval, p_request uuid, p_now timestamptz DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_now timestamptz;
    v_bar text;
    t transactions;
    p transfer_proposals;
BEGIN
    SELECT * INTO t FROM transactions x WHERE x.id = p_transaction FOR NO KEY UPDATE;
    IF t.id IS NULL THEN RETURN 'missing'; END IF;
    v_now := coalesce(p_now, transfa_now());
    PERFORM expire_proposals(t.id, v_now);
    v_bar := decision_bar(t, p_outcome);
    IF v_bar IS NOT NULL THEN RETURN v_bar; END IF;
    IF EXISTS (SELECT 1 FROM transfer_proposals x WHERE x.transaction_id = t.id AND x.state = 'open') THEN
        RETURN 'already_proposed';
    END IF;
    INSERT INTO transfer_proposals (id, transaction_id, outcome, reason, proposed_by, proposed_at, expires_at)
    VALUES (p_id, t.id, p_outcome, p_reason, p_operator, v_now, v_now + p_valid) RETURNING * INTO p;
    PERFORM record_act(p_operator, 'transfer.proposed', t.id::text, p_reason,
        json_build_object('state', t.state, 'amount', t.amount)::text, proposal_json(p), p_request, v_now);
    RETURN 'open';
END $$;

-- 'approved', or why not. A transfer that has ended meanwhile, or a proposal that is too old, takes nothing back and
-- closes the proposal. So does, where the transfer is said to have failed, an order that may still arrive: a transfer
-- stays unknown while its order is sent again, and what is given back must not leave all the same. Locks in the one
-- global order: settle_payments() takes all others after the transfer.
CREATE OR REPLACE FUNCTION approve_outcome(p_id uuid, p_operator text, p_event uuid, p_request uuid,
    p_now timestamptz DEFAULT NULL)
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_now timestamptz;
    v_result text;
    t transactions;
    p transfer_proposals;
    b transfer_proposals;
BEGIN
    SELECT * INTO p FROM transfer_proposals x WHERE x.id = p_id;
    IF p.id IS NULL THEN RETURN 'missing'; END IF;
    SELECT * INTO STRICT t FROM transactions x WHERE x.id = p.transaction_id FOR NO KEY UPDATE;
    SELECT * INTO STRICT p FROM transfer_proposals x WHERE x.id = p_id;         -- again, now that nobody else decides
    IF p.state <> 'open' THEN RETURN 'decided'; END IF;
    IF p.proposed_by = p_operator THEN RETURN 'same_operator'; END IF;
    IF recovery_is_open() THEN RETURN 'recovering'; END IF;
    v_now := coalesce(p_now, transfa_now());
    b := p;
    p.state := CASE
        WHEN p.expires_at <= v_now THEN 'expired'
        WHEN decision_bar(t, p.outcome) IS NOT NULL THEN 'overtaken'
        WHEN p.outcome = 'failed' AND order_under_way(t, p.proposed_at, v_now) THEN 'overtaken' ELSE 'approved' END;
    UPDATE transfer_proposals x SET state = p.state, decided_by = p_operator, decided_at = v_now WHERE x.id = p_id;
    IF p.state = 'approved' THEN
        v_result := (SELECT s.result FROM settle_payments(ARRAY[t.id], ARRAY[p.outcome], ARRAY['resolved_by_operators'],
            ARRAY['proposal:' || p.id], ARRAY[NULL::text], ARRAY[p_event], ARRAY[NULL::uuid],
            'operators ' || p.proposed_by || ' and ' || p_operator, v_now) s);
        IF v_result IS DISTINCT FROM p.outcome THEN
            RAISE EXCEPTION 'what was approved did not happen: %', v_result USING ERRCODE = 'data_exception';
        END IF;
    END IF;
    PERFORM record_act(p_operator, 'transfer.' || p.state, t.id::text, p.reason, proposal_json(b), proposal_json(p),
        p_request, v_now);
    RETURN p.state;
END $$;

-- 'withdrawn', or why not; by whoever proposed it, or by another who disagrees.
CREATE OR REPLACE FUNCTION withdraw_outcome(p_id uuid, p_reason text, p_operator text, p_request uuid,
    p_now timestamptz DEFAULT NULL)
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_now timestamptz;
    p transfer_proposals;
    b transfer_proposals;
BEGIN
    SELECT * INTO p FROM transfer_proposals x WHERE x.id = p_id;
    IF p.id IS NULL THEN RETURN 'missing'; END IF;
    PERFORM 1 FROM transactions x WHERE x.id = p.transaction_id FOR NO KEY UPDATE;
    SELECT * INTO STRICT p FROM transfer_proposals x WHERE x.id = p_id;
    IF p.state <> 'open' THEN RETURN 'decided'; END IF;
    v_now := coalesce(p_now, transfa_now());
    b := p;
    p.state := 'withdrawn';
    UPDATE transfer_proposals x SET state = p.state, decided_by = p_operator, decided_at = v_now WHERE x.id = p_id;
    PERFORM record_act(p_operator, 'transfer.withdrawn', p.transaction_id::text, p_reason, proposal_json(b),
        proposal_json(p), p_request, v_now);
    RETURN 'withdrawn';
END $$;
