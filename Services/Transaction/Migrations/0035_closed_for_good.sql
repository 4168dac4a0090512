-- A closed profile stays closed, and what it has open comes to an end. A merchant who only receives takes the money out
-- to a bank account of their own. And the first day of a device or of a reset PIN begins when it was made, however late
-- its event arrives.

-- Closed is the last word: nothing that is heard later opens a profile again.
CREATE FUNCTION refuse_reopening() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a closed profile is not opened again' USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER closed_for_good BEFORE UPDATE OF status ON users FOR EACH ROW
    WHEN (OLD.status = 'closed' AND NEW.status <> 'closed') EXECUTE FUNCTION refuse_reopening();

-- Who only receives may withdraw: the account is verified and their own, and that is looked at again before the money
-- leaves. The texts of 0010 and 0013 with what is added here, or this file fails.
DO $patch$
DECLARE
    r record;
    v_text text;
BEGIN
    FOR r IN SELECT * FROM (VALUES
        ('accept_payments', 'ELSIF NOT r.sending_allowed THEN',
         'ELSIF NOT r.sending_allowed AND r.type <> ''self_transfer'' THEN'),
        ('submission_bar', 'OR NOT s.sending_allowed)',
         'OR NOT s.sending_allowed AND t.type <> ''self_transfer'')')
    ) AS x(name, found, instead)
    LOOP
        v_text := pg_get_functiondef(r.name::regproc);
        IF cardinality(string_to_array(v_text, r.found)) <> 2 THEN
            RAISE EXCEPTION '% does not hold this once: %', r.name, r.found;
        END IF;
        EXECUTE replace(v_text, r.found, r.instead);
    END LOOP;
END $patch$;

-- Devices ------------------------------------------------------------------------------------------------------------

-- A device, or a reset PIN, which is one without a key. It counts from the moment it was made: what PINs have approved
-- since, before its event came, is in its total, as if the event had not been late. The same device once more changes
-- nothing, so neither a repeated nor an old event makes a first day longer.
-- Locks: transactions, balances.
CREATE FUNCTION note_device(p_id uuid, p_user uuid, p_key bytea, p_activated_at timestamptz, p_sequence bigint,
    p_now timestamptz DEFAULT NULL) RETURNS void
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
    PERFORM 1 FROM transactions t WHERE t.sender_id = p_user AND t.id >= v_first AND t.created_at >= v_from
    ORDER BY t.id FOR NO KEY UPDATE;
    -- The mutex of what the sender spends: a payment is decided before this or knows the device.
    PERFORM 1 FROM balances b JOIN users u ON u.wallet_id = b.account_id WHERE u.id = p_user FOR NO KEY UPDATE OF b;
    INSERT INTO devices (id, user_id, public_key, activated_at, auth_sequence)
    VALUES (p_id, p_user, p_key, v_from, p_sequence) ON CONFLICT (id) DO NOTHING;
    IF NOT FOUND THEN RETURN; END IF;

    WITH late AS MATERIALIZED (
        SELECT t.id, t.amount, t.capped_device_id, t.state NOT IN ('failed', 'reversed') AS counts
        FROM transactions t
        WHERE t.sender_id = p_user AND t.id >= v_first AND t.created_at >= v_from AND t.created_at < v_until
          AND t.device_id IS NULL AND t.type IN ('p2p', 'self_transfer', 'money_drop')
          -- A newer device than this one had the say by then.
          AND NOT EXISTS (SELECT 1 FROM devices d
              WHERE d.user_id = p_user AND (d.activated_at, d.id) > (v_from, p_id) AND d.activated_at <= t.created_at
                AND (d.revoked_at IS NULL OR d.revoked_at > t.created_at))
    ),
    renamed AS (UPDATE transactions t SET capped_device_id = p_id FROM late l WHERE t.id = l.id),
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

-- The end of a profile -----------------------------------------------------------------------------------------------

-- Ends what a closed person has open: what is left of drops goes back (into suspense, as they may not receive), their
-- requests are cancelled, and those that ask them are declined. Returns how much is still on its way, such as the
-- funding of a drop or the payment of a request.
-- Locks: money_drops, drop_slots, payment_requests.
CREATE FUNCTION close_products(p_user uuid, p_now timestamptz DEFAULT NULL) RETURNS integer
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
        PERFORM tell_request(v_state, v_id, NULL, NULL, NULL, v_now);
    END LOOP;

    RETURN (SELECT count(*) FROM money_drops d WHERE d.creator_id = p_user AND d.state IN ('pending', 'open'))
        + (SELECT count(*) FROM payment_requests q WHERE q.owner_id = p_user AND q.state IN ('open', 'processing'));
END $$;

-- Whether nothing of a closed person's is left that they, or somebody they owe, would miss: no money, none on its way,
-- none in suspense, nothing owed, nothing open.
CREATE FUNCTION may_be_erased(p_user uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT 1 FROM users u JOIN balances b ON b.account_id = u.wallet_id
        WHERE u.id = p_user AND u.status = 'closed' AND b.posted = 0 AND b.held = 0 AND NOT b.debits_blocked)
      AND NOT EXISTS (SELECT 1 FROM transactions t
        WHERE t.sender_id = p_user AND t.state NOT IN ('completed', 'failed', 'reversed'))
      AND NOT EXISTS (SELECT 1 FROM transactions t
        WHERE t.recipient_id = p_user AND (t.state NOT IN ('completed', 'failed', 'reversed')
            OR t.state = 'completed' AND t.route_reason = 'suspense'))
      -- A pool that is not empty pays claims that are under way, or gives back what has not gone back yet.
      AND NOT EXISTS (SELECT 1 FROM money_drops d JOIN balances p ON p.account_id = d.pool_id
        WHERE d.creator_id = p_user AND (d.state IN ('pending', 'open') OR p.posted <> 0))
      AND NOT EXISTS (SELECT 1 FROM payment_requests q
        WHERE q.owner_id = p_user AND q.state IN ('open', 'processing'))
$$;

REVOKE ALL ON FUNCTION refuse_reopening(), note_device(uuid, uuid, bytea, timestamptz, bigint, timestamptz),
    close_products(uuid, timestamptz), may_be_erased(uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION note_device(uuid, uuid, bytea, timestamptz, bigint, timestamptz),
    close_products(uuid, timestamptz), may_be_erased(uuid) TO ${worker};
