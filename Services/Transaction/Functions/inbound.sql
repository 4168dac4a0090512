-- Money from outside.

-- Whether a payment with the reference of a transfer is that transfer, come back to the account it had left, or come in
-- at the other end inside: with its amount, and once at each end. Who can write a reference can write any. The transfer
-- is locked.
CREATE OR REPLACE FUNCTION is_return(p_transfer uuid, p_account text, p_amount bigint) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN EXISTS (SELECT 1 FROM transfers t
        WHERE t.id = p_transfer AND t.amount = p_amount AND t.submitted_at IS NOT NULL
          AND (t.source_account = p_account OR t.route = 'internal' AND t.destination = p_account))
        AND NOT EXISTS (SELECT 1 FROM inbound_payments p
            WHERE p.transfer_id = p_transfer AND p.provider_account = p_account AND p.disposition = 'matched');
END $$;

CREATE OR REPLACE FUNCTION take_inbound(p_payment text, p_account text, p_amount bigint, p_reference text, p_id uuid,
    p_evidence text, p_correlation uuid, p_user uuid, p_wallet bigint, p_username text, p_refused boolean,
    p_maximum bigint, p_ours uuid, p_now timestamptz) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_room bigint;
    v_result text;
    v_matches constant boolean := p_ours IS NOT NULL AND is_return(p_ours, p_account, p_amount);
    v_credit bigint := p_wallet;
    v_clearing constant bigint := system_account('provider_clearing', p_id);
BEGIN
    IF EXISTS (SELECT 1 FROM inbound_payments x WHERE x.provider_payment_id = p_payment)
       OR payment_is_held(p_payment) THEN
        RETURN 'duplicate';
    END IF;

    SELECT y.most - y.used INTO v_room
    FROM balances b, receiving_counters c, balance_cap(p_user, p_maximum, b.posted, c.incoming) y
    WHERE b.account_id = p_wallet AND c.user_id = p_user;
    v_result := CASE WHEN v_matches THEN 'matched'
        WHEN p_ours IS NOT NULL OR p_refused OR p_amount > v_room THEN 'suspense' ELSE 'credited' END;
    INSERT INTO inbound_payments (provider_payment_id, provider_account, user_id, amount, reference, disposition,
        transfer_id, received_at)
    VALUES (p_payment, p_account, p_user, p_amount, p_reference, v_result,
        CASE WHEN v_matches THEN p_ours ELSE p_id END, p_now);
    IF v_matches THEN RETURN v_result; END IF;
    IF p_ours IS NOT NULL THEN
        INSERT INTO breaks (transfer_id, kind, state, evidence, opened_at)
        SELECT t.id, 'payment_of_another', t.state, p_evidence, p_now FROM transfers t WHERE t.id = p_ours
        ON CONFLICT DO NOTHING;
    END IF;

    IF v_result = 'suspense' THEN v_credit := system_account('suspense', p_id); END IF;
    INSERT INTO transfers (id, reference, type, state, sequence, recipient_id, recipient_username, debit_account,
        credit_account, amount, route, route_reason, destination, correlation_id, provider_id, created_at, ended_at)
    VALUES (p_id, 'inb-' || p_id, 'inbound', 'completed', 1, p_user, p_username, v_clearing, v_credit, p_amount,
        'internal', v_result, p_account, p_correlation, p_payment, p_now, p_now);
    INSERT INTO transfer_steps (transfer_id, step, state, actor, evidence, happened_at)
    VALUES (p_id, 1, 'completed', 'provider', p_evidence, p_now);
    PERFORM post_legs(ARRAY[v_clearing, v_credit], ARRAY[p_id, p_id], ARRAY['amount', 'amount'],
        ARRAY[-p_amount, p_amount], p_now);
    PERFORM publish_completed(ARRAY[p_id], NULL, NULL, p_now);
    RETURN v_result;
END $$;

-- Credited once per payment of the provider. A payment that carries a reference of ours is one of our own transfers
-- seen from the other end and credits nothing, if it can be that. Money for a wallet that may not take it waits in
-- suspense.
CREATE OR REPLACE FUNCTION credit_inbound(p_payments text[], p_accounts text[], p_amounts bigint[], p_references text[],
    p_transfers uuid[], p_evidence text[], p_correlations uuid[], p_now timestamptz DEFAULT NULL)
RETURNS TABLE (ord integer, transfer_id uuid, user_id uuid, result text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz;
    r record;
    v_recovering boolean;
    v_owes boolean;
    v_results text[] := array_fill(''::text, ARRAY[cardinality(p_payments)]);
    v_ids uuid[] := array_fill(NULL::uuid, ARRAY[cardinality(p_payments)]);
    v_users uuid[] := array_fill(NULL::uuid, ARRAY[cardinality(p_payments)]);
BEGIN
    v_recovering := lock_payments(p_payments);
    PERFORM 1 FROM transfers t WHERE t.reference = ANY (p_references) ORDER BY t.id FOR NO KEY UPDATE;
    SELECT bool_or(y.owed > 0) INTO v_owes FROM (
        SELECT b.owed FROM balances b
        WHERE b.account_id IN (
            SELECT u.wallet_id FROM users u WHERE u.provider_account = ANY (p_accounts)
            UNION SELECT system_account(k, x.id) FROM unnest(p_transfers) AS x(id),
                unnest(ARRAY['provider_clearing', 'suspense']) AS k)
        ORDER BY b.account_id FOR NO KEY UPDATE) y;
    PERFORM 1 FROM receiving_counters c
    WHERE c.user_id IN (SELECT u.id FROM users u WHERE u.provider_account = ANY (p_accounts))
    ORDER BY c.user_id FOR NO KEY UPDATE;
    IF v_owes THEN PERFORM lock_receivables(p_transfers); END IF;
    v_now := coalesce(p_now, transfa_now());

    FOR r IN
        SELECT x.*, u.id AS user_id, u.wallet_id, u.username, u.status <> 'active' OR u.credits_blocked AS refused,
            CASE WHEN l.tier IS NULL THEN 0 ELSE l.maximum_balance END AS maximum_balance, t.id AS ours,
            t.state AS state
        FROM unnest(p_payments, p_accounts, p_amounts, p_references, p_transfers, p_evidence, p_correlations)
             WITH ORDINALITY AS x(payment, account, amount, reference, id, evidence, correlation, ord)
        LEFT JOIN users u ON u.provider_account = x.account
        LEFT JOIN LATERAL limits_of(u.tier, v_now) l ON true
        LEFT JOIN transfers t ON t.reference = x.reference AND (u.id IN (t.recipient_id, t.sender_id)
            OR t.type = 'release' AND x.account IN (t.source_account, t.destination))
        ORDER BY x.payment, x.ord
    LOOP
        v_users[r.ord] := r.user_id;
        IF r.user_id IS NULL THEN
            v_results[r.ord] := 'unknown_account';
            CONTINUE;
        END IF;
        IF v_recovering AND coalesce(r.state, 'accepted') = 'accepted' AND may_be_forgotten(r.payment, r.reference) THEN
            v_results[r.ord] := 'unknown_account';             -- asked again later
            CONTINUE;
        END IF;
        v_results[r.ord] := take_inbound(r.payment, r.account, r.amount, r.reference, r.id, r.evidence, r.correlation,
            r.user_id, r.wallet_id, r.username, r.refused, r.maximum_balance, r.ours, v_now);
        v_ids[r.ord] := (SELECT p.transfer_id FROM inbound_payments p WHERE p.provider_payment_id = r.payment);
    END LOOP;

    RETURN QUERY SELECT x.ord::integer, x.id, x.owner, x.result
    FROM unnest(v_ids, v_users, v_results) WITH ORDINALITY AS x(id, owner, result, ord) ORDER BY x.ord;
END $$;

-- 'suspense', or 'duplicate' for a payment that is booked already.
CREATE OR REPLACE FUNCTION hold_unmatched(p_payment text, p_account text, p_amount bigint, p_id uuid, p_evidence text,
    p_correlation uuid, p_now timestamptz DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_now timestamptz;
    v_clearing constant bigint := system_account('provider_clearing', p_id);
    v_suspense constant bigint := system_account('suspense', p_id);
BEGIN
    -- Two runs at once take turns: the row of the payment is what the second one waits for.
    PERFORM lock_payments(ARRAY[p_payment]);
    PERFORM 1 FROM balances b WHERE b.account_id IN (v_clearing, v_suspense) ORDER BY b.account_id FOR NO KEY UPDATE;
    v_now := coalesce(p_now, transfa_now());
    IF payment_is_held(p_payment) THEN RETURN 'duplicate'; END IF;
    INSERT INTO inbound_payments (provider_payment_id, provider_account, user_id, amount, disposition, transfer_id,
        received_at)
    VALUES (p_payment, p_account, NULL, p_amount, 'suspense', p_id, v_now)
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN RETURN 'duplicate'; END IF;
    INSERT INTO transfers (id, reference, type, state, sequence, debit_account, credit_account, amount, route,
        route_reason, destination, correlation_id, provider_id, created_at, ended_at)
    VALUES (p_id, 'inb-' || p_id, 'inbound', 'completed', 1, v_clearing, v_suspense, p_amount, 'internal', 'suspense',
        p_account, p_correlation, p_payment, v_now, v_now);
    INSERT INTO transfer_steps (transfer_id, step, state, actor, evidence, happened_at)
    VALUES (p_id, 1, 'completed', 'provider', p_evidence, v_now);
    PERFORM post_legs(ARRAY[v_clearing, v_suspense], ARRAY[p_id, p_id], ARRAY['amount', 'amount'],
        ARRAY[-p_amount, p_amount], v_now);
    PERFORM publish_completed(ARRAY[p_id], NULL, NULL, v_now);
    RETURN 'suspense';
END $$;

-- While a recovery is open, all who book a payment hold this until the commit, before any other lock: under either of
-- the provider's two ids it is booked once. Says whether one is open.
CREATE OR REPLACE FUNCTION lock_payments(p_payments text[]) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF NOT recovery_is_open() THEN RETURN false; END IF;
    PERFORM pg_advisory_xact_lock(x.key)
    FROM (SELECT DISTINCT hashtextextended(split_part(p.id, '-', 1), 6102) AS key FROM unnest(p_payments) AS p(id)
          ORDER BY 1) x;
    RETURN true;
END $$;
