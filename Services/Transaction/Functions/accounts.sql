-- Accounts, the people who own them, and their days.

-- Sixteen sub-accounts of each kind, chosen by the transfer's random last byte, so that none of them is a hot row.
CREATE OR REPLACE FUNCTION system_account(kind text, transfer uuid) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT (CASE kind WHEN 'provider_clearing' THEN 16 WHEN 'fees' THEN 32 WHEN 'stamp_duty' THEN 48
        WHEN 'revenue' THEN 64 WHEN 'receivable' THEN 80 WHEN 'suspense' THEN 96
        WHEN 'provider_costs' THEN 112 END
        + (get_byte(uuid_send(transfer), 15) & 15))::bigint
$$;

CREATE OR REPLACE FUNCTION ensure_users(p_users uuid[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_new uuid[];
BEGIN
    -- Sorted, so that two handlers that meet the same new users wait for each other in one order.
    SELECT array_agg(DISTINCT x.id ORDER BY x.id) INTO v_new
    FROM unnest(p_users) AS x(id) WHERE NOT EXISTS (SELECT 1 FROM users u WHERE u.id = x.id);
    IF v_new IS NULL THEN RETURN; END IF;

    INSERT INTO ledger_accounts (kind, owner_id, created_at)
    SELECT 'wallet', x.id, transfa_now() FROM unnest(v_new) AS x(id) ORDER BY x.id
    ON CONFLICT DO NOTHING;
    INSERT INTO balances (account_id)
    SELECT a.id FROM ledger_accounts a WHERE a.owner_id = ANY (v_new) AND a.kind = 'wallet' ORDER BY a.id
    ON CONFLICT DO NOTHING;
    INSERT INTO spending_counters (user_id) SELECT x.id FROM unnest(v_new) AS x(id) ON CONFLICT DO NOTHING;
    INSERT INTO receiving_counters (user_id) SELECT x.id FROM unnest(v_new) AS x(id) ON CONFLICT DO NOTHING;
    INSERT INTO users (id, wallet_id, created_at)
    SELECT a.owner_id, a.id, a.created_at FROM ledger_accounts a WHERE a.owner_id = ANY (v_new) AND a.kind = 'wallet'
    ON CONFLICT DO NOTHING;
END $$;

CREATE OR REPLACE FUNCTION moment_text(moment timestamptz) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

CREATE OR REPLACE FUNCTION lagos_day(moment timestamptz) RETURNS date LANGUAGE sql STABLE AS $$
    SELECT (moment AT TIME ZONE 'Africa/Lagos')::date
$$;

CREATE OR REPLACE FUNCTION month_of(day date) RETURNS date LANGUAGE sql STABLE AS $$
    SELECT date_trunc('month', day)::date
$$;

-- The number of an account's last entry before a moment; 0: there is none. Entries are numbered without gaps and their
-- times never fall, so halving finds it: as many look-ups by primary key as the number has bits, and no index over
-- times that every posting would pay for. Reads what the caller may read.
CREATE OR REPLACE FUNCTION last_entry_before(p_account bigint, p_moment timestamptz) RETURNS bigint
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    v_low bigint := 0;
    v_high bigint := coalesce((SELECT b.sequence FROM balances b WHERE b.account_id = p_account), 0);
    v_middle bigint;
BEGIN
    WHILE v_low < v_high LOOP
        v_middle := (v_low + v_high + 1) / 2;
        IF (SELECT e.posted_at < p_moment FROM entries e WHERE e.account_id = p_account AND e.sequence = v_middle) THEN
            v_low := v_middle;
        ELSE
            v_high := v_middle - 1;
        END IF;
    END LOOP;
    RETURN v_low;
END $$;

-- For a wallet of which a recovery took too much, and for one that owes: its debt stays, and what comes in pays it
-- first. 'unblocked' and what was there, or nothing for a request that has done it before; 'missing', 'not_blocked',
-- 'below_zero', and 'changed' when something else is owed than what the operator has seen.
CREATE OR REPLACE FUNCTION unblock_wallet(p_user uuid, p_owed bigint, p_request uuid, OUT result text,
    OUT posted bigint, OUT held bigint) LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    b balances;
BEGIN
    SELECT x.* INTO b FROM balances x JOIN users u ON u.wallet_id = x.account_id WHERE u.id = p_user
    FOR NO KEY UPDATE OF x;
    result := CASE WHEN b.account_id IS NULL THEN 'missing'
        WHEN EXISTS (SELECT 1 FROM audit_log l WHERE l.subject = p_user::text AND l.act = 'wallet.unblocked'
            AND l.request_id = p_request) THEN 'unblocked'
        WHEN NOT b.debits_blocked THEN 'not_blocked'
        WHEN b.posted - b.held < 0 THEN 'below_zero'
        WHEN p_owed <> b.owed THEN 'changed' END;
    IF result IS NOT NULL THEN RETURN; END IF;
    UPDATE balances x SET checked = true, debits_blocked = false WHERE x.account_id = b.account_id;
    SELECT 'unblocked', b.posted, b.held INTO result, posted, held;
END $$;

-- Whether nothing of a closed person's is left that they, or somebody they owe, would miss: no money, none on its way,
-- none in suspense, nothing owed, nothing open.
CREATE OR REPLACE FUNCTION may_be_erased(p_user uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT 1 FROM users u JOIN balances b ON b.account_id = u.wallet_id
        WHERE u.id = p_user AND u.status = 'closed' AND b.posted = 0 AND b.held = 0 AND b.owed = 0
          AND NOT b.debits_blocked)
      AND NOT EXISTS (SELECT 1 FROM transfers t
        WHERE t.sender_id = p_user AND t.state NOT IN ('completed', 'failed', 'reversed'))
      AND NOT EXISTS (SELECT 1 FROM transfers t
        WHERE t.recipient_id = p_user AND (t.state NOT IN ('completed', 'failed', 'reversed')
            OR t.state = 'completed' AND t.route_reason = 'suspense'))
      -- A pool that is not empty pays claims that are under way, or gives back what has not gone back yet.
      AND NOT EXISTS (SELECT 1 FROM money_drops d JOIN balances p ON p.account_id = d.pool_id
        WHERE d.creator_id = p_user AND (d.state IN ('pending', 'open') OR p.posted <> 0))
      AND NOT EXISTS (SELECT 1 FROM payment_requests q
        WHERE q.owner_id = p_user AND q.state IN ('open', 'processing'))
$$;

-- A device, or a reset PIN, which is one without a key. It counts from the moment it was made: what PINs have approved
-- since, before its event came, is in its total, as if the event had not been late. The same device once more changes
-- nothing, so neither a repeated nor an old event makes a first day longer.
-- Locks: transfers, balances.
CREATE OR REPLACE FUNCTION note_device(p_id uuid, p_user uuid, p_key bytea, p_activated_at timestamptz,
    p_sequence bigint, p_now timestamptz DEFAULT NULL) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
    -- A clock that runs ahead elsewhere must not make the first day end later.
    v_from constant timestamptz := least(p_activated_at, coalesce(p_now, transfa_now()));
    v_until timestamptz;
    -- Ids grow with time; theirs is the service's, which may be a little behind.
    v_first constant uuid := (lpad(to_hex((extract(epoch FROM v_from - interval '1 hour') * 1000)::bigint), 12, '0')
        || '00000000000000000000')::uuid;
BEGIN
    IF EXISTS (SELECT 1 FROM devices d WHERE d.id = p_id) THEN RETURN; END IF;
    SELECT v_from + c.lasting INTO v_until FROM device_caps c WHERE c.valid_from <= v_from
    ORDER BY c.valid_from DESC LIMIT 1;
    PERFORM 1 FROM transfers t WHERE t.sender_id = p_user AND t.id >= v_first AND t.created_at >= v_from
    ORDER BY t.id FOR NO KEY UPDATE;
    -- The mutex of what the sender spends: a payment is decided before this or knows the device.
    PERFORM 1 FROM balances b JOIN users u ON u.wallet_id = b.account_id WHERE u.id = p_user FOR NO KEY UPDATE OF b;
    INSERT INTO devices (id, user_id, public_key, activated_at, auth_sequence)
    VALUES (p_id, p_user, p_key, v_from, p_sequence) ON CONFLICT (id) DO NOTHING;
    IF NOT FOUND THEN RETURN; END IF;

    WITH late AS MATERIALIZED (
        SELECT t.id, t.amount - coalesce(y.given_back, 0) AS amount, t.capped_device_id,
            t.state NOT IN ('failed', 'reversed') AS counts
        FROM transfers t LEFT JOIN money_drops y ON y.funding_id = t.id
        WHERE t.sender_id = p_user AND t.id >= v_first AND t.created_at >= v_from AND t.created_at < v_until
          AND t.device_id IS NULL AND t.type IN ('p2p', 'self_transfer', 'money_drop')
          -- A newer device than this one had the say by then.
          AND NOT EXISTS (SELECT 1 FROM devices d
              WHERE d.user_id = p_user AND (d.activated_at, d.id) > (v_from, p_id) AND d.activated_at <= t.created_at
                AND (d.revoked_at IS NULL OR d.revoked_at > t.created_at))
    ),
    renamed AS (UPDATE transfers t SET capped_device_id = p_id FROM late l WHERE t.id = l.id),
    freed AS (
        UPDATE devices d SET first_day_total = d.first_day_total - x.total
        FROM (SELECT l.capped_device_id, sum(l.amount)::bigint AS total FROM late l
              WHERE l.counts AND l.capped_device_id IS NOT NULL GROUP BY 1) x
        WHERE d.id = x.capped_device_id
    )
    UPDATE devices d SET first_day_total = x.total
    FROM (SELECT coalesce(sum(l.amount) FILTER (WHERE l.counts), 0)::bigint AS total FROM late l) x
    WHERE d.id = p_id;
END $$;

-- Ends what a closed person has open: what is in the wallet goes to suspense and what is left of drops too, as they may
-- not receive; their requests are cancelled, and those that ask them are declined. Returns how much is still on its
-- way, such as a payment, the funding of a drop or the payment of a request.
-- Locks: balances, money_drops, drop_slots, payment_requests.
CREATE OR REPLACE FUNCTION close_products(p_user uuid, p_now timestamptz DEFAULT NULL) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_now timestamptz;
    v_drops uuid[];
    v_requests uuid[];
    v_id uuid;
    v_state text;
BEGIN
    IF NOT EXISTS (SELECT 1 FROM users u WHERE u.id = p_user AND u.status = 'closed') THEN RETURN 0; END IF;
    PERFORM 1 FROM balances b
    WHERE b.account_id IN (SELECT u.wallet_id FROM users u WHERE u.id = p_user UNION SELECT closed_suspense(p_user))
    ORDER BY b.account_id FOR NO KEY UPDATE;
    v_now := coalesce(p_now, transfa_now());
    PERFORM empty_closed_wallets(ARRAY[p_user], v_now);
    UPDATE users u SET emptied_at = v_now WHERE u.id = p_user AND u.emptied_at IS NULL;

    SELECT array_agg(x.id ORDER BY x.id) INTO v_drops FROM (
        SELECT d.id FROM money_drops d WHERE d.creator_id = p_user AND d.state = 'open'
        ORDER BY d.id FOR NO KEY UPDATE) x;
    v_now := coalesce(p_now, transfa_now());
    FOREACH v_id IN ARRAY coalesce(v_drops, '{}') LOOP
        PERFORM close_drop(v_id, (SELECT CASE WHEN d.expires_at <= v_now THEN 'expired' ELSE 'ended' END
            FROM money_drops d WHERE d.id = v_id), NULL, v_now);
        PERFORM refund_drop(v_id, NULL, v_now);
    END LOOP;

    SELECT array_agg(x.id ORDER BY x.id) INTO v_requests FROM (
        SELECT q.id FROM payment_requests q WHERE (q.owner_id = p_user OR q.payer_id = p_user) AND q.state = 'open'
        ORDER BY q.id FOR NO KEY UPDATE) x;
    v_now := coalesce(p_now, transfa_now());
    FOREACH v_id IN ARRAY coalesce(v_requests, '{}') LOOP
        UPDATE payment_requests q SET ended_at = v_now, state = CASE WHEN q.expires_at <= v_now THEN 'expired'
            WHEN q.owner_id = p_user THEN 'cancelled' ELSE 'declined' END
        WHERE q.id = v_id RETURNING q.state INTO v_state;
        PERFORM publish_request(v_state, v_id, NULL, NULL, NULL, v_now);
    END LOOP;

    RETURN greatest((SELECT count(*) FROM money_drops d WHERE d.creator_id = p_user AND d.state IN ('pending', 'open'))
        + (SELECT count(*) FROM payment_requests q WHERE q.owner_id = p_user AND q.state IN ('open', 'processing')),
        (SELECT count(*) FROM users u JOIN balances b ON b.account_id = u.wallet_id
         WHERE u.id = p_user AND b.held > 0),
        -- Whoever credits it may have looked at the wallet before it was closed.
        (SELECT count(*) FROM transfers t WHERE t.recipient_id = p_user AND t.route = 'internal'
            AND t.state IN ('submitted', 'unknown')));
END $$;
