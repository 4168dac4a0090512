-- Money that waits in suspense leaves it by two people's decision.

-- Money that reaches a wallet which may not take it waits in suspense, also when the wallet was frozen or closed while
-- the money was on its way: the provider has moved it, so it cannot fail any more.
--
-- In PL/pgSQL, which keeps the plan: it is called for every batch.
CREATE OR REPLACE FUNCTION divert_to_suspense(p_transfers uuid[], p_outcomes text[])
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE transfers t SET credit_account = system_account('suspense', t.id), route_reason = 'suspense'
    FROM unnest(p_transfers, p_outcomes) AS x(id, outcome)
    WHERE t.id = x.id AND x.outcome IN ('completed', 'reversed') AND t.state IN ('submitted', 'unknown')
      AND t.route = 'internal' AND t.type IN ('p2p', 'drop_claim')
      AND EXISTS (SELECT 1 FROM users u WHERE u.id = t.recipient_id AND u.wallet_id = t.credit_account
                  AND (u.status <> 'active' OR u.credits_blocked));
END $$;

-- 'proposed' and how much it is, or why not.
CREATE OR REPLACE FUNCTION propose_release(p_id uuid, p_transfer uuid, p_disposition text, p_reason text,
    p_operator text, p_now timestamptz DEFAULT NULL, OUT result text, OUT amount bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_now timestamptz;
    t transfers;
BEGIN
    SELECT * INTO t FROM transfers x WHERE x.id = p_transfer FOR NO KEY UPDATE;
    result := CASE WHEN t.id IS NULL OR t.route_reason <> 'suspense' OR t.state <> 'completed' THEN 'not_in_suspense'
        WHEN EXISTS (SELECT 1 FROM suspense_releases r
            WHERE r.transfer_id = p_transfer AND r.state <> 'rejected') THEN 'already_proposed' END;
    IF result IS NOT NULL THEN RETURN; END IF;
    IF t.recipient_id IS NULL AND p_disposition = 'credit' THEN
        UPDATE transfers x SET recipient_id = u.id, recipient_username = u.username FROM users u
        WHERE x.id = t.id AND u.provider_account = t.destination;
        IF NOT FOUND THEN
            result := 'recipient_unavailable';
            RETURN;
        END IF;
    END IF;
    v_now := coalesce(p_now, transfa_now());
    INSERT INTO suspense_releases (id, transfer_id, disposition, reason, proposed_by, proposed_at)
    VALUES (p_id, p_transfer, p_disposition, p_reason, p_operator, v_now);
    SELECT 'proposed', t.amount INTO result, amount;
END $$;

-- 'approved' or 'rejected' and what was proposed, or why not. Locks in the one global order: transfer, balances,
-- counters.
CREATE OR REPLACE FUNCTION decide_release(p_id uuid, p_operator text, p_approve boolean,
    p_now timestamptz DEFAULT NULL, OUT result text, OUT transfer_id uuid, OUT disposition text,
    OUT proposed_by text, OUT reason text, OUT amount bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_now timestamptz;
    v_state constant text := CASE WHEN p_approve THEN 'approved' ELSE 'rejected' END;
    r suspense_releases;
    t transfers;
BEGIN
    SELECT * INTO r FROM suspense_releases x WHERE x.id = p_id;
    IF r.id IS NULL THEN
        result := 'unknown';
        RETURN;
    END IF;
    SELECT * INTO STRICT t FROM transfers x WHERE x.id = r.transfer_id FOR NO KEY UPDATE;
    SELECT * INTO STRICT r FROM suspense_releases x WHERE x.id = p_id;          -- again, now that nobody else decides
    result := CASE WHEN r.state <> 'proposed' THEN 'decided' WHEN r.proposed_by = p_operator THEN 'same_operator'
        WHEN p_approve AND t.state <> 'completed' THEN 'not_in_suspense' END;
    IF result IS NOT NULL THEN RETURN; END IF;
    PERFORM 1 FROM balances b
    WHERE b.account_id IN (t.credit_account, system_account('provider_clearing', t.id),
        (SELECT u.wallet_id FROM users u WHERE u.id = t.recipient_id))
    ORDER BY b.account_id FOR NO KEY UPDATE;
    PERFORM 1 FROM receiving_counters c WHERE c.user_id = t.recipient_id FOR NO KEY UPDATE;
    v_now := coalesce(p_now, transfa_now());
    IF p_approve AND r.disposition = 'credit' THEN
        result := release_refusal(t, v_now);
        IF result IS NOT NULL THEN RETURN; END IF;
    END IF;

    UPDATE suspense_releases x SET state = v_state, decided_by = p_operator, decided_at = v_now WHERE x.id = p_id;
    IF p_approve THEN PERFORM post_release(r, t, p_operator, v_now); END IF;
    SELECT v_state, t.id, r.disposition, r.proposed_by, r.reason, t.amount
    INTO result, transfer_id, disposition, proposed_by, reason, amount;
END $$;

-- Why a wallet may not take what waits for it; null: nothing is in the way.
CREATE OR REPLACE FUNCTION release_refusal(t transfers, p_now timestamptz) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN u.status <> 'active' OR u.credits_blocked THEN 'recipient_unavailable'
        WHEN l.tier IS NULL OR t.amount > l.maximum_balance - b.posted - c.incoming THEN 'recipient_limit' END
    FROM users u JOIN balances b ON b.account_id = u.wallet_id JOIN receiving_counters c ON c.user_id = u.id
    LEFT JOIN LATERAL limits_of(u.tier, p_now) l ON true
    WHERE u.id = t.recipient_id
$$;
