-- Money that waits in suspense leaves it by two people's decision.

-- Money that reaches a wallet which may not take it waits in suspense, also when the wallet was frozen or closed while
-- the money was on its way: the provider has moved it, so it cannot fail any more.
--
-- In PL/pgSQL, which keeps the plan: it is called for every batch.
CREATE OR REPLACE FUNCTION divert_to_suspense(p_transactions uuid[], p_outcomes text[])
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE transactions t SET credit_account = system_account('suspense', t.id), route_reason = 'suspense'
    FROM unnest(p_transactions, p_outcomes) AS x(id, outcome)
    WHERE t.id = x.id AND x.outcome IN ('completed', 'reversed') AND t.state IN ('submitted', 'unknown')
      AND t.route = 'internal' AND t.type IN ('p2p', 'drop_claim')
      AND EXISTS (SELECT 1 FROM users u WHERE u.id = t.recipient_id AND u.wallet_id = t.credit_account
                  AND (u.status <> 'active' OR u.credits_blocked));
END $$;

-- 'proposed', or why not.
CREATE OR REPLACE FUNCTION propose_release(p_id uuid, p_transaction uuid, p_disposition text, p_reason text,
    p_operator text, p_request uuid, p_now timestamptz DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_now timestamptz;
    t transactions;
BEGIN
    SELECT * INTO t FROM transactions x WHERE x.id = p_transaction FOR NO KEY UPDATE;
    IF t.id IS NULL OR t.route_reason <> 'suspense' OR t.state <> 'completed' THEN RETURN 'not_in_suspense'; END IF;
    IF EXISTS (SELECT 1 FROM suspense_releases r WHERE r.transaction_id = p_transaction AND r.state <> 'rejected') THEN
        RETURN 'already_proposed';
    END IF;
    IF t.recipient_id IS NULL AND p_disposition = 'credit' THEN
        UPDATE transactions x SET recipient_id = u.id, recipient_username = u.username FROM users u
        WHERE x.id = t.id AND u.provider_account = t.destination;
        IF NOT FOUND THEN RETURN 'recipient_unavailable'; END IF;
    END IF;
    v_now := coalesce(p_now, transfa_now());
    INSERT INTO suspense_releases (id, transaction_id, disposition, reason, proposed_by, proposed_at)
    VALUES (p_id, p_transaction, p_disposition, p_reason, p_operator, v_now);
    PERFORM record_act(p_operator, 'suspense.proposed', p_transaction::text, NULL,
        json_build_object('release', p_id, 'disposition', p_disposition, 'reason', p_reason, 'amount', t.amount)::text,
        p_request, v_now);
    RETURN 'proposed';
END $$;

-- 'approved' or 'rejected', or why not. Locks in the one global order: transaction, balances, counters.
CREATE OR REPLACE FUNCTION decide_release(p_id uuid, p_operator text, p_approve boolean, p_request uuid,
    p_now timestamptz DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_now timestamptz;
    v_bar text;
    v_state constant text := CASE WHEN p_approve THEN 'approved' ELSE 'rejected' END;
    r suspense_releases;
    t transactions;
BEGIN
    SELECT * INTO r FROM suspense_releases x WHERE x.id = p_id;
    IF r.id IS NULL THEN RETURN 'unknown'; END IF;
    SELECT * INTO STRICT t FROM transactions x WHERE x.id = r.transaction_id FOR NO KEY UPDATE;
    SELECT * INTO STRICT r FROM suspense_releases x WHERE x.id = p_id;          -- again, now that nobody else decides
    IF r.state <> 'proposed' THEN RETURN 'decided'; END IF;
    IF r.proposed_by = p_operator THEN RETURN 'same_operator'; END IF;
    IF p_approve AND t.state <> 'completed' THEN RETURN 'not_in_suspense'; END IF;
    PERFORM 1 FROM balances b
    WHERE b.account_id IN (t.credit_account, system_account('provider_clearing', t.id),
        (SELECT u.wallet_id FROM users u WHERE u.id = t.recipient_id))
    ORDER BY b.account_id FOR NO KEY UPDATE;
    PERFORM 1 FROM receiving_counters c WHERE c.user_id = t.recipient_id FOR NO KEY UPDATE;
    v_now := coalesce(p_now, transfa_now());
    IF p_approve AND r.disposition = 'credit' THEN
        v_bar := release_bar(t, v_now);
        IF v_bar IS NOT NULL THEN RETURN v_bar; END IF;
    END IF;

    UPDATE suspense_releases x SET state = v_state, decided_by = p_operator, decided_at = v_now WHERE x.id = p_id;
    IF p_approve THEN PERFORM post_release(r, t, p_operator, v_now); END IF;
    PERFORM record_act(p_operator, 'suspense.' || v_state, t.id::text,
        json_build_object('release', p_id, 'state', 'proposed', 'proposed_by', r.proposed_by)::text,
        json_build_object('release', p_id, 'state', v_state, 'disposition', r.disposition, 'reason', r.reason,
            'amount', t.amount)::text,
        p_request, v_now);
    RETURN v_state;
END $$;

-- Why a wallet may not take what waits for it; null: nothing is in the way.
CREATE OR REPLACE FUNCTION release_bar(t transactions, p_now timestamptz) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN u.status <> 'active' OR u.credits_blocked THEN 'recipient_unavailable'
        WHEN l.tier IS NULL OR t.amount > l.maximum_balance - b.posted - c.incoming THEN 'recipient_limit' END
    FROM users u JOIN balances b ON b.account_id = u.wallet_id JOIN receiving_counters c ON c.user_id = u.id
    LEFT JOIN LATERAL limits_of(u.tier, p_now) l ON true
    WHERE u.id = t.recipient_id
$$;
