-- Operators end transfers that are `unknown`, and book reversals that the provider made without telling, when two agree:
-- one proposes with a reason, another approves. Until then nothing moves, and evidence that comes first wins: what was
-- proposed is looked at again when it is approved, with the transfer locked.

CREATE TABLE transfer_proposals (
    id              uuid PRIMARY KEY,
    transaction_id  uuid NOT NULL,
    outcome         text COLLATE "C" NOT NULL CHECK (outcome IN ('completed', 'failed', 'reversed')),
    reason          text NOT NULL CHECK (reason <> ''),
    state           text COLLATE "C" NOT NULL DEFAULT 'open'
                    CHECK (state IN ('open', 'approved', 'withdrawn', 'expired', 'overtaken')),
    proposed_by     text NOT NULL CHECK (proposed_by <> ''),
    proposed_at     timestamptz NOT NULL,
    expires_at      timestamptz NOT NULL CHECK (expires_at > proposed_at),
    decided_by      text,
    decided_at      timestamptz,
    CHECK (state <> 'approved' OR decided_by IS NOT NULL AND decided_by <> proposed_by),
    CHECK ((state = 'open') = (decided_at IS NULL))
);
CREATE UNIQUE INDEX transfer_proposals_open ON transfer_proposals (transaction_id) WHERE state = 'open';
CREATE INDEX transfer_proposals_transaction ON transfer_proposals (transaction_id, id);

-- What the provider answered when it was asked about a transfer, in a word, for the operators who have to decide.
CREATE TABLE provider_answers (
    transaction_id  uuid NOT NULL,
    answer          text COLLATE "C" NOT NULL,
    times           integer NOT NULL DEFAULT 1,
    first_seen_at   timestamptz NOT NULL,
    last_seen_at    timestamptz NOT NULL,
    PRIMARY KEY (transaction_id, answer)
) WITH (fillfactor = 85);

-- Why an outcome cannot be decided by people now; null: it can. A reversal is of money that the provider has moved, and
-- that operators have not already given back out of suspense.
CREATE FUNCTION decision_bar(t transactions, p_outcome text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN p_outcome IN ('completed', 'failed') AND (t).state <> 'unknown' THEN 'not_unknown'
        WHEN p_outcome = 'reversed' AND ((t).state <> 'completed' OR (t).submitted_at IS NULL) THEN 'not_reversible'
        WHEN p_outcome = 'reversed' AND (t).route_reason = 'returned' THEN 'not_reversible' END
$$;

-- Whether an order may still arrive at the provider whose end the proposal could not know: one that was begun since, or one
-- that has no end and may be on its way for as long as record_absence() reckons with.
CREATE FUNCTION order_under_way(t transactions, p_since timestamptz, p_now timestamptz) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT 1 FROM provider_calls c WHERE c.reference = (t).reference
        AND (c.started_at > p_since OR c.ended_at IS NULL AND c.deadline_at + interval '2 minutes' > p_now))
$$;

CREATE FUNCTION proposal_json(p transfer_proposals) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT json_build_object('proposal', (p).id, 'outcome', (p).outcome, 'state', (p).state,
        'proposed_by', (p).proposed_by)::text
$$;

-- What nobody approved in time counts no more. The transfer must be locked.
CREATE FUNCTION expire_proposals(p_transaction uuid, p_now timestamptz) RETURNS void LANGUAGE sql AS $$
    UPDATE transfer_proposals x SET state = 'expired', decided_at = p_now
    WHERE x.transaction_id = p_transaction AND x.state = 'open' AND x.expires_at <= p_now
$$;

-- 'open', or why not.
CREATE FUNCTION propose_outcome(p_id uuid, p_transaction uuid, p_outcome text, p_reason text, p_operator text,
    p_valid interval, p_request uuid, p_now timestamptz DEFAULT NULL) RETURNS text
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

-- 'approved', or why not. A transfer that has ended meanwhile, or a proposal that is too old, takes nothing back and closes
-- the proposal. So does, where the transfer is said to have failed, an order that may still arrive: a transfer stays unknown
-- while its order is sent again, and what is given back must not leave all the same. Locks in the one global order:
-- settle_payments() takes all others after the transfer.
CREATE FUNCTION approve_outcome(p_id uuid, p_operator text, p_event uuid, p_request uuid, p_now timestamptz DEFAULT NULL)
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
    v_now := coalesce(p_now, transfa_now());
    b := p;
    p.state := CASE WHEN p.expires_at <= v_now THEN 'expired' WHEN decision_bar(t, p.outcome) IS NOT NULL THEN 'overtaken'
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
CREATE FUNCTION withdraw_outcome(p_id uuid, p_reason text, p_operator text, p_request uuid, p_now timestamptz DEFAULT NULL)
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

-- What two operators decide is decided by the functions above; the one that took both names at once is for nobody.
DROP FUNCTION resolve_unknown(uuid, text, text, text, text, uuid, timestamptz);

-- Money that was taken back while a release of it was proposed is no longer there to be released.
SELECT amend_function('decide_release', 'IF r.proposed_by = p_operator THEN RETURN ''same_operator''; END IF;',
    'IF r.proposed_by = p_operator THEN RETURN ''same_operator''; END IF;
    IF p_approve AND t.state <> ''completed'' THEN RETURN ''not_in_suspense''; END IF;');

CREATE FUNCTION check_decisions() RETURNS TABLE (name text, detail text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT 'I28 what two people decided happened, once, in their names', p.id::text
        FROM transfer_proposals p LEFT JOIN transaction_events h
            ON h.transaction_id = p.transaction_id AND h.evidence = 'proposal:' || p.id AND h.state = p.outcome
        GROUP BY p.id, p.state, p.decided_by, p.proposed_by
        HAVING count(h.step) <> (p.state = 'approved')::integer OR p.state = 'approved' AND
            (p.decided_by = p.proposed_by OR min(h.actor) <> 'operators ' || p.proposed_by || ' and ' || p.decided_by)
    UNION ALL SELECT 'I28 operators end nothing alone', h.transaction_id || ' #' || h.step
        FROM transaction_events h LEFT JOIN transfer_proposals p
            ON h.evidence = 'proposal:' || p.id AND p.transaction_id = h.transaction_id AND p.state = 'approved'
        WHERE h.evidence LIKE 'proposal:%' AND p.id IS NULL
$$;
CREATE OR REPLACE FUNCTION check_invariants() RETURNS TABLE (name text, detail text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp SET jit = off AS $$
    SELECT * FROM check_books() UNION ALL SELECT * FROM check_audit() UNION ALL SELECT * FROM check_suspense()
    UNION ALL SELECT * FROM check_decisions()
$$;

REVOKE ALL ON FUNCTION decision_bar(transactions, text), order_under_way(transactions, timestamptz, timestamptz),
    proposal_json(transfer_proposals), expire_proposals(uuid, timestamptz), check_decisions(),
    propose_outcome(uuid, uuid, text, text, text, interval, uuid, timestamptz),
    approve_outcome(uuid, text, uuid, uuid, timestamptz), withdraw_outcome(uuid, text, text, uuid, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION propose_outcome(uuid, uuid, text, text, text, interval, uuid, timestamptz),
    approve_outcome(uuid, text, uuid, uuid, timestamptz), withdraw_outcome(uuid, text, text, uuid, timestamptz) TO ${worker};
GRANT SELECT ON transfer_proposals TO ${worker};
GRANT SELECT, INSERT, UPDATE ON provider_answers TO ${worker};

-- Operators list transfers by their state. An index on the state itself would make each step of each transfer dearer; in
-- the history only what seldom happens has one.
CREATE INDEX transaction_events_seldom ON transaction_events (state, happened_at)
    WHERE state IN ('unknown', 'failed', 'reversed');
