-- What the service subscription charges for a plan.

-- One attempt. 'paid' or 'refused'; 'known': it was answered before; 'stale': nothing was done, try again later.
CREATE OR REPLACE FUNCTION charge_subscription(p_id uuid, p_reference text, p_attempt integer, p_user uuid,
    p_amount bigint, p_correlation uuid, p_traceparent text, p_now timestamptz) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_reason text;
    v_answer text;
    c subscription_charges;
    u users;
BEGIN
    SELECT * INTO c FROM subscription_charges x WHERE x.reference = p_reference;
    IF c.attempt >= p_attempt THEN RETURN 'known'; END IF;

    -- A later attempt at what is paid is answered so again, and moves nothing.
    IF c.transfer_id IS NULL THEN
        IF recovery_is_open() OR NOT read_model_is_fresh(p_now)
           OR EXISTS (SELECT 1 FROM parked_keys k WHERE k.subject = p_user::text) THEN
            RETURN 'stale';
        END IF;
        SELECT * INTO u FROM users x WHERE x.id = p_user;
        v_reason := CASE
            WHEN u.id IS NULL THEN 'sender_unknown'
            WHEN u.status <> 'active' OR u.debits_blocked THEN 'sender_restricted'
            WHEN (SELECT b.debits_blocked FROM balances b WHERE b.account_id = u.wallet_id) THEN 'sender_restricted'
            WHEN p_amount > (SELECT b.posted - b.held FROM balances b WHERE b.account_id = u.wallet_id)
                THEN 'insufficient_funds' END;
        IF v_reason IS NULL THEN
            PERFORM post_charge(p_id, p_reference, u, p_amount, p_correlation, p_traceparent, p_now);
            c.transfer_id := p_id;
        END IF;
    END IF;

    INSERT INTO subscription_charges AS x (reference, user_id, attempt, reason, transfer_id, sequence, decided_at)
    VALUES (p_reference, p_user, p_attempt, v_reason, c.transfer_id, 1, p_now)
    ON CONFLICT (reference) DO UPDATE SET attempt = excluded.attempt, reason = excluded.reason,
        transfer_id = excluded.transfer_id, sequence = x.sequence + 1, decided_at = excluded.decided_at
    RETURNING * INTO c;
    v_answer := CASE WHEN v_reason IS NULL THEN 'paid' ELSE 'refused' END;
    PERFORM publish_charge(v_answer, c, p_amount, p_correlation, p_traceparent, p_now);
    RETURN v_answer;
END $$;

-- Attempts in their order, each by itself. p_ids: new UUIDv7 transfer ids.
CREATE OR REPLACE FUNCTION charge_subscriptions(p_ids uuid[], p_references text[], p_attempts integer[], p_users uuid[],
    p_amounts bigint[], p_correlations uuid[], p_traceparents text[], p_now timestamptz DEFAULT NULL)
RETURNS TABLE (ord integer, result text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz;
    r record;
BEGIN
    PERFORM 1 FROM balances b
    WHERE b.account_id IN (
        SELECT u.wallet_id FROM users u WHERE u.id = ANY (p_users)
        UNION SELECT system_account('revenue', x.id) FROM unnest(p_ids) AS x(id))
    ORDER BY b.account_id FOR NO KEY UPDATE;
    PERFORM 1 FROM receiving_counters c WHERE c.user_id = ANY (p_users) ORDER BY c.user_id FOR NO KEY UPDATE;
    v_now := coalesce(p_now, transfa_now());

    FOR r IN
        SELECT * FROM unnest(p_ids, p_references, p_attempts, p_users, p_amounts, p_correlations, p_traceparents)
            WITH ORDINALITY AS x(id, reference, attempt, user_id, amount, correlation, traceparent, ord)
        ORDER BY x.ord
    LOOP
        ord := r.ord;
        result := charge_subscription(r.id, r.reference, r.attempt, r.user_id, r.amount, r.correlation, r.traceparent,
            v_now);
        RETURN NEXT;
    END LOOP;
END $$;
