-- The price of a plan: from a wallet to revenue, in our own books alone.
--
-- As with fees, the money stays in the same account at the provider, so a charge has no call and no open state: it is
-- paid in one commit or refused in one. A charge is named by its person and the day on which the period begins,
-- `sub-<user>-<yyyymmdd>`; that is the reference of its transaction too, and references are unique, so nobody pays twice
-- for a period whatever is repeated. A refused charge may be tried again by the next attempt. Each attempt is answered
-- by one event, `subscription_charge.paid` or `.refused`.
--
-- Limits do not count it: they bound what others may be paid. Nor does receiving only forbid it.
-- Locks as everywhere: balances, receiving_counters. The wallet's balances row is the mutex of its person's charges.

CREATE TABLE subscription_charges (
    reference       text COLLATE "C" PRIMARY KEY,
    user_id         uuid NOT NULL,
    attempt         integer NOT NULL CHECK (attempt > 0),    -- the last one that was answered
    reason          text COLLATE "C",                        -- why it was refused
    transaction_id  uuid,                                    -- what paid it
    sequence        bigint NOT NULL,                         -- of the last event with this charge as subject
    decided_at      timestamptz NOT NULL,
    CHECK (reference ~ ('^sub-' || user_id || '-\d{8}$')),
    CHECK ((reason IS NULL) = (transaction_id IS NOT NULL))
);

-- Moves the money. The balances are locked.
CREATE FUNCTION post_charge(p_id uuid, p_reference text, u users, p_amount bigint, p_correlation uuid,
    p_traceparent text, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_revenue constant bigint := system_account('revenue', p_id);
    v_data constant text := transaction_data(p_id, u.id, NULL, p_amount, 'subscription_charge', 'internal',
        'subscription_charge', 0, 0, '', moment_text(p_now));
BEGIN
    INSERT INTO transactions (id, reference, type, state, sequence, sender_id, debit_account, credit_account, amount,
        route, route_reason, correlation_id, traceparent, created_at, ended_at)
    VALUES (p_id, p_reference, 'subscription_charge', 'completed', 2, u.id, u.wallet_id, v_revenue, p_amount,
        'internal', 'subscription_charge', p_correlation, p_traceparent, p_now, p_now);
    INSERT INTO transaction_events (transaction_id, step, state, actor, evidence, happened_at)
    VALUES (p_id, 1, 'completed', 'subscription', 'own books: ' || p_reference, p_now);
    INSERT INTO holds (transaction_id, account_id, amount, state) VALUES (p_id, u.wallet_id, p_amount, 'posted');
    PERFORM post_legs(ARRAY[u.wallet_id, v_revenue], ARRAY[p_id, p_id], ARRAY['amount', 'amount'],
        ARRAY[-p_amount, p_amount], p_now);
    INSERT INTO outbox (day, id, type, subject, sequence, correlation_id, traceparent, time, data)
    SELECT uuid_v7_day(e.id), e.id, e.type, p_id, e.sequence, p_correlation, p_traceparent, p_now, v_data
    FROM (VALUES (new_event_id(p_now), 'transaction.created', 1), (new_event_id(p_now), 'transaction.completed', 2))
        AS e(id, type, sequence);
END $$;

-- One attempt. 'paid' or 'refused'; 'known': it was answered before; 'stale': nothing was done, try again later.
CREATE FUNCTION charge_subscription(p_id uuid, p_reference text, p_attempt integer, p_user uuid, p_amount bigint,
    p_correlation uuid, p_traceparent text, p_now timestamptz) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_event constant uuid := new_event_id(p_now);
    v_reason text;
    c subscription_charges;
    u users;
BEGIN
    SELECT * INTO c FROM subscription_charges x WHERE x.reference = p_reference;
    IF c.attempt >= p_attempt THEN RETURN 'known'; END IF;

    -- A later attempt at what is paid is told so again, and moves nothing.
    IF c.transaction_id IS NULL THEN
        IF NOT read_model_is_fresh(p_now) OR EXISTS (SELECT 1 FROM parked_keys k WHERE k.subject = p_user::text) THEN
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
            c.transaction_id := p_id;
        END IF;
    END IF;

    INSERT INTO subscription_charges AS x (reference, user_id, attempt, reason, transaction_id, sequence, decided_at)
    VALUES (p_reference, p_user, p_attempt, v_reason, c.transaction_id, 1, p_now)
    ON CONFLICT (reference) DO UPDATE SET attempt = excluded.attempt, reason = excluded.reason,
        transaction_id = excluded.transaction_id, sequence = x.sequence + 1, decided_at = excluded.decided_at
    RETURNING x.sequence INTO c.sequence;
    INSERT INTO outbox (day, id, type, subject, sequence, correlation_id, traceparent, time, data)
    VALUES (uuid_v7_day(v_event), v_event,
        CASE WHEN v_reason IS NULL THEN 'subscription_charge.paid' ELSE 'subscription_charge.refused' END,
        p_reference, c.sequence, p_correlation, p_traceparent, p_now,
        '{"user_id":"' || p_user || '","reference":"' || p_reference || '","attempt":' || p_attempt || ',"amount":'
            || p_amount || coalesce(',"reason":"' || v_reason || '"', ',"transaction_id":"' || c.transaction_id || '"')
            || ',"timestamp":"' || moment_text(p_now) || '"}');
    RETURN CASE WHEN v_reason IS NULL THEN 'paid' ELSE 'refused' END;
END $$;

-- Attempts in their order, each by itself. p_ids: new UUIDv7 transaction ids.
CREATE FUNCTION charge_subscriptions(p_ids uuid[], p_references text[], p_attempts integer[], p_users uuid[],
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

-- Rights -------------------------------------------------------------------------------------------------------------

REVOKE ALL ON FUNCTION post_charge(uuid, text, users, bigint, uuid, text, timestamptz),
    charge_subscription(uuid, text, integer, uuid, bigint, uuid, text, timestamptz),
    charge_subscriptions(uuid[], text[], integer[], uuid[], bigint[], uuid[], text[], timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
    charge_subscriptions(uuid[], text[], integer[], uuid[], bigint[], uuid[], text[], timestamptz) TO ${worker};

GRANT SELECT ON subscription_charges TO ${worker};
ALTER TABLE subscription_charges ENABLE ROW LEVEL SECURITY;
ALTER TABLE subscription_charges FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON subscription_charges FOR SELECT TO ${handler} USING (false);
CREATE POLICY all_rows ON subscription_charges TO ${owner}, ${worker} USING (true) WITH CHECK (true);

-- What must be true of charges, beside what check_invariants() has looked at so far.

ALTER FUNCTION check_invariants() RENAME TO check_transfers;

CREATE FUNCTION check_invariants() RETURNS TABLE (name text, detail text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp SET jit = off AS $$
    SELECT * FROM check_transfers()
    UNION ALL SELECT 'I21 a charge is paid by its one transaction, or by none', coalesce(c.reference, t.reference)
        FROM subscription_charges c
            FULL JOIN (SELECT * FROM transactions x WHERE x.type = 'subscription_charge') t ON t.id = c.transaction_id
        WHERE c.reference IS DISTINCT FROM t.reference AND (t.id IS NOT NULL OR c.transaction_id IS NOT NULL)
           OR t.id IS NOT NULL AND (t.sender_id <> c.user_id OR t.state <> 'completed'
                OR t.credit_account <> system_account('revenue', t.id)
                OR t.debit_account <> (SELECT u.wallet_id FROM users u WHERE u.id = c.user_id))
    UNION ALL SELECT 'I21 revenue is what charges brought', e.transaction_id::text
        FROM entries e JOIN ledger_accounts a ON a.id = e.account_id JOIN transactions t ON t.id = e.transaction_id
        WHERE a.kind = 'revenue' AND (t.type <> 'subscription_charge' OR e.amount <> t.amount)
    UNION ALL SELECT 'I21 an attempt is answered by one event', c.reference
        FROM subscription_charges c
            LEFT JOIN outbox o ON o.subject = c.reference AND o.type LIKE 'subscription\_charge.%'
        WHERE c.decided_at >= (SELECT min(day) FROM outbox) + 1
        GROUP BY c.reference, c.sequence
        HAVING max(o.sequence) IS DISTINCT FROM c.sequence OR count(o.sequence) <> count(DISTINCT o.sequence)
$$;

REVOKE ALL ON FUNCTION check_invariants() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION check_invariants() TO ${worker};
REVOKE ALL ON FUNCTION check_transfers() FROM ${worker};
